"""Arms that compile more than once, and their STABLE judged."""

from __future__ import annotations

from typing import Any

from compile_ledger.facts.arm import Arm
from compile_ledger.judge.judged import Judged
from compile_ledger.judge.stable.level import judge_stable

from . import make


def judged(*every: Arm) -> Judged:
    return judge_stable(make.arms(*every), make.EAGER_BACKEND)


def recompiling(pattern: str, *reasons: str, **fields: Any) -> Arm:
    """An arm whose ``r`` calls recompile for the given reasons in turn (the last repeats)."""
    events = []
    for call, letter in enumerate(pattern):
        if letter == "c":
            events.append(make.compile_at(call))
        elif letter == "r":
            number = min(len(events), len(reasons)) - 1
            events.append(make.compile_at(call, "recompiled", f"0/0: {reasons[number]}"))
    return make.healthy(**{"calls": make.calls(pattern), "compiles": tuple(events), **fields})


def sizes(count: int, start: int = 4) -> list[str]:
    return [make.size("x", 0, start + i, start + i + 1) for i in range(count)]
