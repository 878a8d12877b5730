"""What ``cache_line`` and ``what_if`` cost on the four-block transformer of the example.

    python benchmarks/cache_line_cost.py [ENTRIES]

Prints the best of several readings in milliseconds, with their budgets: 100 ms for the
cache line, 20 ms for a question that an entry takes.
"""

from __future__ import annotations

import argparse
import runpy
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from compile_ledger import TensorSpec, cache_line, what_if

ROUNDS = 7


def milliseconds(function: Callable[..., Any], *args: Any) -> tuple[float, Any]:
    """The shortest of several runs, and what the last one returned."""
    best, found = float("inf"), None
    for _ in range(ROUNDS):
        began = time.perf_counter()
        found = function(*args)
        best = min(best, 1000 * (time.perf_counter() - began))
    return best, found


def compiled_with(entries: int) -> Any:
    """The example's model compiled for as many sequence lengths."""
    path = Path(__file__).parents[1] / "examples" / "varlen_service.py"
    model = runpy.run_path(str(path))["load_model"]()
    compiled = torch.compile(model, backend="eager", dynamic=False)
    for length in range(8, 8 + entries):
        compiled(tokens(length))
    return compiled


def tokens(length: int) -> torch.Tensor:
    """A request of this length."""
    return torch.zeros(1, length, dtype=torch.long)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("entries", nargs="?", type=int, default=1)
    entries = parser.parse_args().entries
    with torch.no_grad():
        compiled = compiled_with(entries)
        spec = TensorSpec((1, 8), dtype=torch.long)
        questions: dict[str, tuple[Any, ...]] = {
            "cache_line (budget 100 ms)": (cache_line, compiled),
            "what_if, an entry takes it (budget 20 ms)": (what_if, compiled, tokens(8)),
            "what_if, no entry takes it": (what_if, compiled, tokens(100)),
            "what_if of a description": (what_if, compiled, spec),
        }
        for name, (function, *args) in questions.items():
            took, _answer = milliseconds(function, *args)
            print(f"{name:<44}{took:8.1f} ms")
        took, shown = milliseconds(str, cache_line(compiled))
        print(f"{'print(cache_line)':<44}{took:8.1f} ms, {len(shown.splitlines())} rows")
        guards = sum(len(entry.guards) for entry in cache_line(compiled).root.entries)
        print(f"{entries} entries, {guards} guards")


if __name__ == "__main__":
    main()
