"""An experiment's two readings as pairs of bars."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from compile_ledger.judge.document import ExperimentRow, Reading
from compile_ledger.render.words import NOT_MEASURED, count, seconds

COUNTS: tuple[tuple[str, str], ...] = (
    ("compiles", "compiles"),
    ("recompiles", "recompiles"),
    ("refused", "refused"),
    ("fell_back", "fell back"),
    ("switched_off", "switched off"),
)
CAPTURED: tuple[tuple[str, str], ...] = (
    ("graphs_high", "graphs per call, at most"),
    ("breaks", "breaks"),
    ("frames_skipped", "frames skipped"),
)
"""What an experiment on breaks is about, before the counts that all have."""


@dataclass(frozen=True, slots=True)
class Bar:
    """One side of a pair: its text and its length in percent (0: nothing to draw)."""

    text: str
    length: float


@dataclass(frozen=True, slots=True)
class Pair:
    """One quantity before and after the change."""

    name: str
    before: Bar
    after: Bar


def bars(row: ExperimentRow) -> tuple[Pair, ...]:
    """A pair for each count, on one scale, and one for CPU seconds on its own.

    Counts that are zero or unmeasured on both sides are left out.
    """
    sides = (row.before, row.after)
    fields = (*CAPTURED, *COUNTS) if row.level == "CAPTURED" else COUNTS
    values = {name: _values(sides, field) for field, name in fields}
    top = max((value or 0.0 for pair in values.values() for value in pair), default=0.0)
    shown = [_pair(name, pair, top, count) for name, pair in values.items() if any(pair)]
    cpu = _values(sides, "cpu_seconds")
    return (*shown, _pair("CPU time", cpu, max(value or 0.0 for value in cpu), seconds))


def _values(
    sides: tuple[Reading | None, Reading | None], field: str
) -> tuple[float | None, float | None]:
    before, after = sides
    return _value(before, field), _value(after, field)


def _value(side: Reading | None, field: str) -> float | None:
    return None if side is None else getattr(side, field)


def _pair(
    name: str,
    values: tuple[float | None, float | None],
    top: float,
    word: Callable[[float | None], str],
) -> Pair:
    before, after = (
        Bar(NOT_MEASURED if value is None else word(value), 100 * (value or 0) / (top or 1))
        for value in values
    )
    return Pair(name, before, after)
