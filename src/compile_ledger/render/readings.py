"""What an experiment shows of each side: the columns of its table, by the level it tests."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from compile_ledger.judge.document import LEVELS, LevelName, Reading

from .words import count, seconds

SETTLED = {True: "yes", False: "no", None: "too short"}


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its name, its short name in so many characters, and its cell in words."""

    name: str
    short: str
    width: int
    word: Callable[[Reading], str]


def _graphs(reading: Reading) -> str:
    low, high = reading.graphs_low, reading.graphs_high
    if low is None or high is None:
        return "?"
    return f"{low:g}" if low == high else f"{low:g} to {high:g}"


def _known(value: int | None) -> str:
    return "?" if value is None else count(value)


def _cpu(reading: Reading) -> str:
    return "?" if reading.cpu_seconds is None else seconds(reading.cpu_seconds)


_COMPILES = Column("compiles", "compiles", 9, lambda r: count(r.compiles))
_RECOMPILES = Column("recompiles", "recomp.", 8, lambda r: count(r.recompiles))
_SETTLED = Column("settled", "settled", 10, lambda r: SETTLED[r.settled])
_CPU = Column("CPU", "CPU", 10, _cpu)

_STABILITY = (
    _COMPILES,
    _RECOMPILES,
    Column("refused", "refused", 8, lambda r: count(r.refused)),
    Column("fell back", "fell back", 10, lambda r: count(r.fell_back)),
    Column("switched off", "off", 5, lambda r: count(r.switched_off)),
    _SETTLED,
    _CPU,
)
_CAPTURE = (
    Column("graphs per call", "graphs/call", 12, _graphs),
    Column("breaks", "breaks", 8, lambda r: _known(r.breaks)),
    Column("frames skipped", "skipped", 9, lambda r: _known(r.frames_skipped)),
    _COMPILES,
    _RECOMPILES,
    _CPU,
)

COLUMNS: dict[LevelName, tuple[Column, ...]] = {
    level: _CAPTURE if level == "CAPTURED" else _STABILITY for level in LEVELS
}
