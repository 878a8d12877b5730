"""Run a script with its ``torch.compile`` calls sent to a backend that counts.

    python run_counted.py COUNTS.json SCRIPT [ARGS ...]

Graphs run as captured, so that a run takes seconds and needs no C++ compiler.
"""

import json
import runpy
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

runs: list[int] = []
"""The number of the graph that ran, in the order of the runs."""
graphs = 0
compile_kwargs: list[dict[str, Any]] = []


def counting(graph: torch.fx.GraphModule, _inputs: list[torch.Tensor]) -> Callable[..., Any]:
    """Count each graph, and each of its runs."""
    global graphs
    number, graphs = graphs, graphs + 1

    def run(*args: Any) -> Any:
        runs.append(number)
        return graph.forward(*args)

    return run


def main() -> None:
    """Run the script, then write what was counted."""
    original = torch.compile

    def compile_counted(model: Any, **kwargs: Any) -> Any:
        compile_kwargs.append(kwargs)
        return original(model, **{**kwargs, "backend": counting})

    torch.compile = compile_counted
    _, counts, *sys.argv = sys.argv
    runpy.run_path(sys.argv[0], run_name="__main__")
    Path(counts).write_text(json.dumps({"graphs": graphs, "runs": runs, "kwargs": compile_kwargs}))


if __name__ == "__main__":
    main()
