"""Every hook of ours fails, one after the other; the program must not notice: ``faults.py DIR``.

Prints a line for each: what was made to fail, how often that was counted, and where.
"""

import sys
from collections import Counter
from typing import Any

import torch

from compile_ledger.observe.hooks import breaks, eager_runs, entries, evidence, misses, regions
from compile_ledger.observe.recording import live, recorder, session, timeline

FAULTY = (
    (regions, ("_new_region", "_name_region")),
    (misses, ("_before", "_after", "_fact", "_judge", "call_of_stack", "entry_count")),
    (entries, ("_count_entry",)),
    (eager_runs.RunWatch, ("note_miss", "add_refused", "read")),
    (evidence, ("as_break", "_source_name", "_dynamic_axes", "current", "next")),
    (breaks, ("_place",)),
    (timeline.EventRing, ("saw_miss", "flush")),
    (recorder.Recorder, ("counters", "_cache_lines")),
    (session.Session, ("tell", "code_state", "thread_number")),
    (live.Recording, ("_wake",)),
)
LIMIT = 4
NAME = "recompile_limit" if hasattr(torch._dynamo.config, "recompile_limit") else "cache_size_limit"


class FaultError(Exception):
    """What our hooks raise here."""


def fail(*_: Any, **__: Any) -> None:
    raise FaultError


def function(x: Any, n: float) -> Any:
    y = x * n
    torch._dynamo.graph_break()
    return y + 1


def work() -> None:
    torch._dynamo.reset()
    compiled = torch.compile(function, backend="eager")
    for size in (2, 3, 4, 3):
        assert torch.equal(compiled(torch.ones(size), 2.0), torch.ones(size) * 2 + 1)
    static = torch.compile(lambda x: x + 1, backend="eager", dynamic=False)
    with torch._dynamo.config.patch({NAME: LIMIT}):
        for size in range(2, 4 + LIMIT):
            assert torch.equal(static(torch.ones(size)), torch.ones(size) + 1)
    with torch.compiler.set_stance("fail_on_recompile"):
        try:
            compiled(torch.ones(2, 2), 2.0)
        except RuntimeError:
            return
    raise AssertionError


def losses_when(owner: Any, name: str) -> Counter[str]:
    """Work with ``owner.name`` failing; what was counted as lost, by place."""
    missing = object()
    own = vars(owner).get(name, missing)
    setattr(owner, name, fail)
    recording = live.start(sys.argv[1], timeline=1000)
    assert recording.recorder
    lost = recording.recorder.session.sink.lost
    try:
        work()
        live.stop()
    finally:
        if own is missing:
            delattr(owner, name)
        else:
            setattr(owner, name, own)
    counted: Counter[str] = Counter()
    for (where, why), number in lost.items():
        assert why.startswith("FaultError"), (name, where, why)
        counted[where] += number
    return counted


def main() -> None:
    for owner, names in FAULTY:
        for name in names:
            counted = losses_when(owner, name)
            print(name, counted.total() if hasattr(counted, "total") else sum(counted.values()),
                  *sorted(counted))  # fmt: skip


main()
