"""Facts to findings to verdict: pure functions, no torch, no I/O."""
