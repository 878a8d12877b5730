"""Every hook of ours fails; the program must not notice: ``faults.py DIR``."""

import sys
from typing import Any

import torch

from compile_ledger.observe import breaks, entries, evidence, live, misses, regions

FAULTY = {
    regions: ("_new_region", "_name_region"),
    misses: ("_before", "_fact", "_judge"),
    entries: ("_count_entry",),
    evidence: ("as_break", "_source_name", "_dynamic_axes"),
    breaks: ("_place",),
}


class FaultError(Exception):
    """What our hooks raise here."""


def fail(*_: Any, **__: Any) -> None:
    raise FaultError


def function(x: Any, n: float) -> Any:
    y = x * n
    torch._dynamo.graph_break()
    return y + 1


def work() -> None:
    compiled = torch.compile(function, backend="eager")
    for size in (2, 3, 4, 3):
        assert torch.equal(compiled(torch.ones(size), 2.0), torch.ones(size) * 2 + 1)


def main() -> None:
    for module, names in FAULTY.items():
        for name in names:
            own = getattr(module, name)
            setattr(module, name, fail)
            recording = live.start(sys.argv[1])
            session = recording.recorder.session if recording.recorder else None
            assert session
            try:
                torch._dynamo.reset()
                work()
            finally:
                setattr(module, name, own)
                live.stop()
            print(name, sum(session.sink.lost.values()))
            session.sink.lost.clear()


main()
