"""What became of each call, as a strip: one letter a call, or the worst of several."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from compile_ledger.facts.calls import DISPOSITIONS, WORST_FIRST, Disposition
from compile_ledger.judge.document import ArmRow, CallRow, RegionRow

from .strip_groups import grouped


@dataclass(frozen=True, slots=True)
class Look:
    """A disposition's letter, words and terminal style."""

    letter: str
    word: str
    meaning: str
    style: str


LOOKS: dict[Disposition, Look] = {
    "compiled": Look("C", "compiled", "first entry", "blue"),
    "recompiled": Look("R", "recompiled", "another entry", "yellow"),
    "reused": Look("·", "reused", "an entry took the call", "green"),
    "refused": Look("X", "refused", "the attempt that hit a limit", "bold red"),
    "fell_back": Look("E", "fell back", "eager: no entry took it", "red"),
    "switched_off": Look("O", "switched off", "skipped for good", "bold magenta"),
    "skipped": Look("s", "skipped", "by rule or request", "dim"),
    "raised": Look("!", "raised", "an exception left the call", "bold red reverse"),
}

LOST: frozenset[Disposition] = frozenset({"raised", "refused", "switched_off", "fell_back"})
"""Dispositions of calls that a reader has to see, however many strips there are."""

WITHOUT_STRIPS = ("eager", "eager_again", "drift", "ablation", "opinions")
"""Arms that run eager by request, or whose calls are those of another arm once more."""

LONGEST_STRIP = 240
"""Cells in a strip at most; more calls than that share cells."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of a strip: calls ``first`` to ``last`` of the region, worst disposition."""

    disposition: Disposition
    first: int
    last: int
    cpu_ns: int


@dataclass(frozen=True, slots=True)
class Strip:
    """The calls of one region in one arm, in order; or of several that are alike."""

    arm: str
    change: str
    region: int
    """The first, where it shows several."""
    label: str
    """What was compiled and where: ``encode at serve.py:5``."""
    cells: tuple[Cell, ...]
    runs: tuple[Cell, ...]
    """The same calls with equal neighbours merged, never mixed."""
    calls: int
    per_cell: int
    missing: int
    """Calls of the whole arm that were made but not kept one by one."""


def strips(arms: Iterable[ArmRow], regions: Iterable[RegionRow] = ()) -> tuple[Strip, ...]:
    """The strips of every arm whose calls have dispositions, those that lost calls first.

    One for each region, but one for all regions of few calls that one line makes of one
    target. The arms of :data:`WITHOUT_STRIPS` have none.
    """
    known = {row.id: row for row in regions}
    made = (
        _strip(arm, ids, calls, named)
        for arm in arms
        if arm.name not in WITHOUT_STRIPS
        for ids, calls, named in grouped(arm.calls, known)
    )
    return tuple(sorted(made, key=_loss))


def _loss(strip: Strip) -> int:
    """Place among strips: the worst failing disposition decides, else they are equal."""
    present = {run.disposition for run in strip.runs}
    ranks = (rank for rank, name in enumerate(WORST_FIRST) if name in present & LOST)
    return next(ranks, len(WORST_FIRST))


def occurring(shown: Iterable[Strip]) -> tuple[Disposition, ...]:
    """The dispositions that occur in ``shown``, in the order of reports."""
    seen = {run.disposition for strip in shown for run in strip.runs}
    return tuple(name for name in DISPOSITIONS if name in seen)


def tally(strip: Strip) -> dict[Disposition, int]:
    """Calls of each disposition that occurs, in the order of reports."""
    total: Counter[Disposition] = Counter()
    for run in strip.runs:
        total[run.disposition] += run.last - run.first + 1
    return {name: total[name] for name in DISPOSITIONS if total[name]}


def _strip(arm: ArmRow, regions: Sequence[int], calls: Sequence[CallRow], label: str) -> Strip:
    per_cell = -(-len(calls) // LONGEST_STRIP)
    chunks = [calls[i : i + per_cell] for i in range(0, len(calls), per_cell)]
    merged = [list(same) for _, same in groupby(calls, key=lambda call: call.disposition)]
    return Strip(
        arm=arm.name,
        change=arm.change,
        region=regions[0],
        label=label,
        cells=tuple(map(_cell, chunks)),
        runs=tuple(map(_cell, merged)),
        calls=len(calls),
        per_cell=per_cell,
        missing=max(0, arm.calls_total - len(arm.calls)),
    )


def _cell(calls: Sequence[CallRow]) -> Cell:
    present = {call.disposition for call in calls}
    worst = next(name for name in WORST_FIRST if name in present)
    return Cell(worst, calls[0].index, calls[-1].index, sum(call.cpu_ns for call in calls))
