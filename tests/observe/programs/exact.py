"""40,000 calls whose graphs the backend counts: ``exact.py DIR THREADS TIMELINE``."""

import itertools
import json
import sys
import threading
from collections.abc import Callable
from typing import Any

import torch
from torch._guards import CompileContext

import compile_ledger

SIZES, BROKEN, NESTED, LIMITED = 15_000, 10_000, 5_000, 10_000
runs: dict[str, Any] = {}


def backend(graph: Any, _inputs: Any) -> Callable[..., Any]:
    """Count each run of each graph, by compile id."""
    number = str(CompileContext.current_compile_id())
    count = runs[number] = itertools.count()

    def run(*args: Any) -> Any:
        next(count)
        return graph.forward(*args)

    return run


def several(x: Any) -> Any:
    return x * 2 + 1


def broken(x: Any) -> Any:
    y = x + 1
    torch._dynamo.graph_break()
    return y * y


def limited(x: Any) -> Any:
    return x - 3


def outer(x: Any) -> Any:
    y = x / 2
    y = inner(y)
    return y + 1


compiled: dict[str, Any] = {}


@torch.compiler.disable
def inner(x: Any) -> Any:
    return compiled["several"](x)


def serve(share: int) -> None:
    """One thread's share of the calls."""
    tensors = [torch.ones(size) for size in range(2, 14)]
    for number in range(SIZES // share):
        compiled["several"](tensors[number % 4])
    for number in range(BROKEN // share):
        compiled["broken"](tensors[number % 2])
    for _ in range(NESTED // share):
        compiled["outer"](tensors[0])
    for number in range(LIMITED // share):
        compiled["limited"](tensors[number % 12])


def main() -> None:
    folder, threads, timeline = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    recording = compile_ledger.start(folder, interval=0.1, timeline=timeline)
    for function in (several, broken, outer, limited):
        compiled[function.__name__] = torch.compile(function, backend=backend, dynamic=False)
    workers = [threading.Thread(target=serve, args=(threads,)) for _ in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    compile_ledger.stop()
    counted = {name: int(repr(count)[6:-1]) for name, count in runs.items()}
    print(json.dumps({"path": str(recording.path), "runs": counted}))


if __name__ == "__main__":
    main()
