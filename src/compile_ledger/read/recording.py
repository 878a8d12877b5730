"""Reads a recording of ours back into the facts of one arm."""

from __future__ import annotations

import dataclasses
from collections import Counter
from pathlib import Path
from typing import Any

from compile_ledger.facts.agreement import Agreement
from compile_ledger.facts.arm import Arm, Costs, Goodbye, Header, Lost, MissedState, Toolchain
from compile_ledger.facts.cache_line import LineReading
from compile_ledger.facts.calls import Call, Counters, EntryRuns, RegionCalls
from compile_ledger.facts.codec import (
    FORMAT,
    VERSION,
    DamagedLineError,
    UnknownKindError,
    fact_in,
    parse,
)
from compile_ledger.facts.compile import Compile
from compile_ledger.facts.contract import Stated
from compile_ledger.facts.environment import Capability
from compile_ledger.facts.opinion import Opinion
from compile_ledger.facts.outside import Operators, OwnCalls
from compile_ledger.facts.region import CodeObject, Region
from compile_ledger.facts.timeline import Timeline
from compile_ledger.facts.timing import Ablation, GuardLookup, SteadyState

from .timeline import calls_of

DAMAGED = "damaged line"
NO_GOODBYE = "the process ended without a goodbye, or still runs"


class RecordingError(ValueError):
    """The file is no recording, or one that this version cannot read."""


class Totals:
    """Readings of the counters as one: the last, with what it left out as it had not changed."""

    def __init__(self) -> None:
        """No reading yet."""
        self._last: Counters | None = None
        self._regions: dict[int, RegionCalls] = {}
        self._entries: dict[tuple[int, str], EntryRuns] = {}

    def add(self, reading: Counters) -> None:
        """Take the next reading."""
        self._last = reading
        self._regions.update((fact.region, fact) for fact in reading.regions)
        self._entries.update(((e.code_object, e.compile_id), e) for e in reading.entries)

    def now(self) -> Counters | None:
        """Every total as it was last written; None before the first reading."""
        if self._last is None:
            return None
        regions, entries = tuple(self._regions.values()), tuple(self._entries.values())
        return dataclasses.replace(self._last, regions=regions, entries=entries)


class _Gathered:
    """Facts by kind, as lines come; the last one wins where a kind is a state."""

    def __init__(self) -> None:
        self.lists: dict[type, list[Any]] = {}
        self.totals = Totals()
        self.damage: Counter[tuple[str, str]] = Counter()
        self.numbered = self.last_number = -1
        """The number of lines that have a number, less one, and the highest number."""

    def take(self, line: bytes) -> None:
        try:
            raw = parse(line)
            self._number(raw.get("n"))
            fact = fact_in(raw)
        except UnknownKindError as error:
            self.damage["unknown kind", str(error)] += 1
        except DamagedLineError as error:
            self.damage[DAMAGED, str(error)[:200]] += 1
        else:
            self.add(fact)

    def _number(self, number: Any) -> None:
        if isinstance(number, int):
            self.numbered += 1
            self.last_number = max(self.last_number, number)

    @property
    def facts(self) -> bool:
        """Whether any line held a fact."""
        return bool(self.lists) or self.totals.now() is not None

    @property
    def missing(self) -> int:
        """Lines that were written or tried, and are neither here nor damaged."""
        damaged = sum(n for (where, _), n in self.damage.items() if where == DAMAGED)
        return max(0, self.last_number - self.numbered - damaged)

    def add(self, fact: Any) -> None:
        if isinstance(fact, Counters):
            self.totals.add(fact)
        else:
            self.lists.setdefault(type(fact), []).append(fact)

    def every(self, kind: type) -> tuple[Any, ...]:
        return tuple(self.lists.get(kind, ()))

    def last(self, kind: type) -> Any:
        found = self.lists.get(kind)
        return found[-1] if found else None

    def by_id(self, kind: type) -> tuple[Any, ...]:
        return tuple({fact.id: fact for fact in self.every(kind)}.values())


def _check(got: _Gathered, path: Path) -> Header | None:
    """The header, wherever it stands; None where it was lost and other facts are there."""
    header: Header | None = got.last(Header)
    if header is None and path.stat().st_size == 0:
        msg = f"{path} is empty: its process ended before it wrote anything"
        raise RecordingError(msg)
    if (header is None and not got.facts) or (header and header.format != FORMAT):
        msg = f"{path} is not a compile-ledger recording: no line of it is a fact of ours"
        raise RecordingError(msg)
    if header and header.version > VERSION:
        msg = (
            f"{path} has recording version {header.version}, this compile-ledger reads up to "
            f"{VERSION}: upgrade compile-ledger"
        )
        raise RecordingError(msg)
    return header


def _gather(path: Path) -> _Gathered:
    gathered = _Gathered()
    with path.open("rb") as lines:
        for line in lines:
            if line.strip():
                gathered.take(line)
    return gathered


def read_arm(path: Path, name: str = "", change: str = "") -> Arm:
    """The facts of the process that wrote ``path``.

    A recording without a goodbye is an arm that was ``killed``. Damaged lines and
    unknown kinds are counted in ``Arm.damage``. Raises :class:`RecordingError` when
    the file is no recording, ``OSError`` when it cannot be opened.
    """
    got = _gather(path)
    header = _check(got, path)
    goodbye: Goodbye | None = got.last(Goodbye)
    counters = got.totals.now()
    return Arm(
        name=name or (header.arm if header else "") or "recorded",
        change=change,
        status=goodbye.status if goodbye else "killed",
        why=goodbye.why if goodbye else NO_GOODBYE,
        raised=goodbye.raised if goodbye else None,
        header=header,
        capabilities=tuple({c.name: c for c in got.every(Capability)}.values()),
        regions=got.by_id(Region),
        code_objects=got.by_id(CodeObject),
        compiles=got.every(Compile),
        calls=got.every(Call) or calls_of(got.every(Timeline), counters),
        counters=counters,
        cache_lines=got.every(LineReading),
        agreements=got.every(Agreement),
        steady=got.every(SteadyState),
        guard_lookups=got.every(GuardLookup),
        ablations=got.every(Ablation),
        opinions=got.every(Opinion),
        own_calls=got.every(OwnCalls),
        missed_states=got.every(MissedState),
        operators=got.every(Operators),
        toolchain=got.last(Toolchain),
        stated=got.last(Stated),
        costs=got.last(Costs) or Costs(),
        lost=got.every(Lost),
        damage=_damage(got),
        wall_ns=goodbye.at_ns if goodbye else (counters.at_ns if counters else 0),
        cpu_ns=_cpu(goodbye, counters),
        peak_bytes=goodbye.peak_bytes if goodbye else None,
        exit_code=goodbye.exit_code if goodbye else None,
        cut=goodbye.calls if goodbye else None,
    )


def _damage(got: _Gathered) -> tuple[Lost, ...]:
    found = [Lost(where, why, n) for (where, why), n in got.damage.items()]
    if got.missing:
        found.append(Lost("missing line", "its number is not in the file", got.missing))
    return tuple(found)


def _cpu(goodbye: Goodbye | None, counters: Counters | None) -> int:
    last = goodbye or counters
    return last.cpu_ns + last.children_cpu_ns if last else 0
