"""Recording that starts late, stops, and starts again: ``late.py DIR``."""

import inspect
import sys
from pathlib import Path
from typing import Any

import torch
from torch._dynamo import convert_frame, eval_frame

import compile_ledger


def early(x: Any) -> Any:
    return x + 1


def later(x: Any) -> Any:
    y = x - 1
    torch._dynamo.graph_break()
    return y * 2


# torch 2.6 has the other name.
LIMIT = next(
    name
    for name in ("exceeds_recompile_limit", "exceeds_cache_size_limit")
    if hasattr(convert_frame, name)
)


def hooks() -> Any:
    return (
        eval_frame.OptimizeContext.__init__,
        eval_frame._TorchDynamoContext.__call__,
        convert_frame.CatchErrorsWrapper.__call__,
        getattr(convert_frame, LIMIT),
        len(convert_frame._bytecode_hooks),
        getattr(torch._C._dynamo.eval_frame, "set_guard_complete_hook", None),
    )


first = torch.compile(early, backend="eager", dynamic=False)
for size in (2, 3, 2):
    first(torch.ones(size))
before = hooks()
folder = Path(sys.argv[1])
with compile_ledger.record(folder / "a", interval=0.1) as recording:
    for size in (2, 3, 4, 2):
        first(torch.ones(size))
    second = torch.compile(later, backend="eager", dynamic=False)
    for size in (2, 3, 2):
        second(torch.ones(size))
    try:
        compile_ledger.start(folder / "b")
    except RuntimeError as error:
        print(type(error).__name__)
assert hooks() == before
contexts = [inspect.getclosurevars(f).nonlocals["self"] for f in (first, second)]
ours = [h for c in contexts for h in c.enter_exit_hooks if "compile_ledger" in h.__module__]
print(ours)
for size in (2, 3):
    second(torch.ones(size))
torch._dynamo.reset()
with compile_ledger.record(folder / "b"):
    for size in (2, 3, 2):
        second(torch.ones(size))
assert hooks() == before
print(compile_ledger.stop())
