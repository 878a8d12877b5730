"""Frames that count their eager runs themselves: ``eager.py DIR THREADS [taken]``.

``is_dynamo_compiling()`` is true in every graph and false in eager, in every thread, so
that the bodies below count exactly their eager runs. ``taken``: no tool id of
``sys.monitoring`` is free.
"""

import itertools
import json
import sys
import threading
from typing import Any

import torch
from torch.compiler import is_dynamo_compiling

import compile_ledger

CALLS, SIZES, OUTSIDE = 240, 12, 7
modes = {"inner": "0", "resume": "0"}
eager = {name: itertools.count() for name in ("limited", "inner", "resume", "healthy")}


def limited(x: Any) -> Any:
    if not is_dynamo_compiling():
        next(eager["limited"])
    return x - 3


def inner(x: Any) -> Any:
    if not is_dynamo_compiling():
        next(eager["inner"])
    y = x * 2 if modes["inner"] != "0" else x
    torch._dynamo.graph_break()
    return y + 1


def outer(x: Any) -> Any:
    y = inner(x / 2)
    if not is_dynamo_compiling():
        next(eager["resume"])
    return y * 2 if modes["resume"] != "0" else y


def healthy(x: Any) -> Any:
    if not is_dynamo_compiling():
        next(eager["healthy"])
    return x + 1


functions = (limited, outer, healthy)
compiled = [torch.compile(f, backend="eager", dynamic=False) for f in functions]


def serve(share: int) -> None:
    """One thread's share of the calls."""
    tensors = [torch.ones(2 + size) for size in range(SIZES)]
    for number in range(CALLS // share):
        modes["inner"], modes["resume"] = str(number % 10), str(number % 11)
        compiled[0](tensors[number % SIZES])
        compiled[1](tensors[0])
        compiled[2](tensors[0])


def serve_in(threads: int) -> None:
    workers = [threading.Thread(target=serve, args=(threads,)) for _ in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()


def take_tools() -> None:
    for tool in range(6):
        sys.monitoring.use_tool_id(tool, "other")  # type: ignore[attr-defined,unused-ignore]


def main() -> None:
    folder, threads = sys.argv[1], int(sys.argv[2])
    if sys.argv[3:]:
        take_tools()
    codes = [f.__code__ for f in functions]
    recording = compile_ledger.start(folder, interval=0.1)
    for _ in range(2):
        # Then Dynamo reads the code anew while the interpreter watches it.
        torch._dynamo.reset()
        serve_in(threads)
    for _ in range(OUTSIDE):
        limited(torch.ones(50))
    compile_ledger.stop()
    assert [f.__code__ for f in functions] == codes
    monitoring = getattr(sys, "monitoring", None)
    tools = [] if monitoring is None else [monitoring.get_tool(tool) for tool in range(6)]
    counts = {name: int(repr(count)[6:-1]) for name, count in eager.items()}
    counts["limited"] -= OUTSIDE
    print(json.dumps({"path": str(recording.path), "eager": counts, "tools": tools}))


if __name__ == "__main__":
    main()
