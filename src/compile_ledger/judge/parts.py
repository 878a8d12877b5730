"""Small parts that the ledger's document is made of."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of the ledger: a value with its instrument, or why there is none."""

    name: str
    value: str | None = None
    instrument: str = ""
    why: str = ""
    """Set exactly when ``value`` is None."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the chapter's ledger: region, capture, assumptions, ..., verdict."""

    name: str
    cells: tuple[Cell, ...] = ()


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a finding rests on: quoted as the instrument gave it."""

    instrument: str
    text: str
    count: int = 1
    arm: str = ""


@dataclass(frozen=True, slots=True)
class FindingCost:
    """What a finding cost, where it was measured."""

    seconds: float | None = None
    """CPU seconds of compiling that it caused, in the arm named by its evidence."""
    calls: int | None = None
    """Calls that ran without compiled code because of it."""
    why: str = ""


@dataclass(frozen=True, slots=True)
class Limit:
    """A limit that was hit on a code object."""

    name: str
    at_call: int | None
    value: int | None = None


@dataclass(frozen=True, slots=True)
class Off:
    """A code object that Dynamo skips from some call on."""

    by_call: int | None
    why: str


@dataclass(frozen=True, slots=True)
class Entry:
    """One cache entry: what it assumed against the others, and how often it ran."""

    compile_id: str
    runs: int | None = None
    graph_ops: int | None = None
    guards: int | None = None
    seconds: float | None = None
    made_for: str = ""
    """Why it was compiled: the first refusal that led to it; empty for the first."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A measured number with its 95% interval; ``value`` None when not measured."""

    value: float | None = None
    low: float | None = None
    high: float | None = None
    samples: int = 0
    why: str = ""
