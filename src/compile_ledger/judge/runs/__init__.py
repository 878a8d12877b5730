"""Level 1, RUNS."""
