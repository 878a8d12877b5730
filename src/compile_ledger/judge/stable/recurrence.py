"""Whether compiling has ended: compiles in the tail of a stream, and which recur."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from compile_ledger.facts.compile import Compile
from compile_ledger.facts.place import Place
from compile_ledger.judge.view import View

from .causes import Key, primary
from .stream import Event, Stream

FRESH = 4
"""Code objects of one and the same place before they count as made anew at each call."""


@dataclass(frozen=True, slots=True)
class Recurring:
    """A cause that still makes compiles in the tail."""

    key: Key | None
    """None: the runtime gave no reason."""
    compiles: tuple[Compile, ...]
    """Every compile of this cause in the stream."""
    in_tail: int


@dataclass(frozen=True, slots=True)
class Ending:
    """How compiling ends in one stream."""

    recurring: tuple[Recurring, ...] = ()
    late: tuple[Event, ...] = ()
    """Compiles in the tail that do not recur, but may: too late to tell."""

    @property
    def settled(self) -> bool:
        """True when nothing in the tail says that compiling goes on."""
        return not self.recurring and not self.late


def ending(stream: Stream) -> Ending:
    """Judge the tail of one stream that is long enough.

    A cause recurs when it compiles in the tail and had made a recompile before.
    One with few possible values (a dtype, a flag, a relation) recurs only when
    every call of the tail compiles: else it ends by nature.
    """
    by_key: defaultdict[Key | None, list[Event]] = defaultdict(list)
    for event in stream.events:
        if _recompiled(event.compile):
            by_key[primary(event.compile)].append(event)
    recurring, late = [], []
    for key, events in by_key.items():
        tail = [e for e in events if e.at is not None and e.at >= stream.tail_start]
        if not tail:
            continue
        if _recurs(key, events, tail, stream):
            recurring.append(Recurring(key, tuple(e.compile for e in events), len(tail)))
        elif key is None or not key.bounded:
            late.extend(tail)
    return Ending(tuple(recurring), tuple(late))


def _recurs(key: Key | None, events: list[Event], tail: list[Event], stream: Stream) -> bool:
    if key is not None and key.bounded:
        return len({event.at for event in tail}) >= stream.tail
    return len(events) > 1


def _recompiled(event: Compile) -> bool:
    return event.outcome == "recompiled" or (event.kept and event.entries_before > 0)


@dataclass(frozen=True, slots=True)
class Anew:
    """One place in the source whose code object is made anew and compiled each time."""

    place: Place
    compiles: tuple[Compile, ...]
    calls: int
    """Calls of the regions that enter these code objects."""


def made_anew(view: View) -> tuple[Anew, ...]:
    """Places where new code objects are still being compiled in the tail of their calls."""
    by_place: defaultdict[tuple[object, ...], list[Compile]] = defaultdict(list)
    for event in view.compiles:
        code = view.code.get(event.code_object)
        if code and event.kept and event.entries_before == 0 and not code.library:
            by_place[_source(code.file), code.line, code.name].append(event)
    found = (_anew(view, events) for events in by_place.values())
    return tuple(anew for anew in found if anew)


def _source(file: str) -> str:
    """The file; generated sources (``<loss 3>``) count as one."""
    return file.rstrip(">").rstrip("0123456789") if file.startswith("<") else file


def _anew(view: View, events: list[Compile]) -> Anew | None:
    if len({event.code_object for event in events}) < FRESH:
        return None
    regions = {r for event in events if (r := view.region_of(event)) is not None}
    order = sorted(
        (call.at_ns, call.region, call.index) for r in regions for call in view.calls.get(r, ())
    )
    if not order:
        return None
    compiled = {(view.region_of(event), event.call) for event in events}
    tail = order[-max(3, -(-len(order) // 3)) :]
    still = sum((region, index) in compiled for _, region, index in tail)
    if still < min(len(tail), 2):
        return None
    code = view.code[events[0].code_object]
    return Anew(code.place, tuple(events), len(order))
