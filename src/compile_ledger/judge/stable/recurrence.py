"""Whether compiling has ended: compiles in the tail of a stream, and which recur."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from itertools import accumulate

from compile_ledger.facts.compile import Compile
from compile_ledger.facts.place import Place
from compile_ledger.judge.view import View

from .causes import Cause, Key, blamed, cause
from .stream import Event, Stream, tail_of

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
class Late:
    """A compile in the tail, the first of its cause."""

    event: Event
    cause: Cause | None
    """None: the runtime gave no reason."""


@dataclass(frozen=True, slots=True)
class Ending:
    """How compiling ends in one stream."""

    recurring: tuple[Recurring, ...] = ()
    late: tuple[Late, ...] = ()
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
    by_key: defaultdict[tuple[int, Key | None], list[Event]] = defaultdict(list)
    again = [event for event in stream.events if _recompiled(event.compile)]
    told = blamed(event.compile for event in again)
    for event, (made, key) in zip(again, told, strict=True):
        by_key[made.code_object, key].append(event)
    recurring, late = [], []
    for (_, key), events in by_key.items():
        tail = [e for e in events if e.at is not None and e.at >= stream.tail_start]
        if not tail:
            continue
        if _recurs(key, events, tail, stream):
            recurring.append(Recurring(key, tuple(e.compile for e in events), len(tail)))
        elif key is None or not key.bounded:
            late += [Late(e, cause(key, (e.compile,)) if key else None) for e in tail]
    return Ending(tuple(recurring), tuple(late))


def _recurs(key: Key | None, events: list[Event], tail: list[Event], stream: Stream) -> bool:
    if key is not None and key.bounded:
        return len({event.at for event in tail}) >= stream.tail
    return len(events) > 1


def _recompiled(event: Compile) -> bool:
    return event.outcome == "recompiled" or (event.kept and event.entries_before > 0)


@dataclass(frozen=True, slots=True)
class Anew:
    """One place in the source that is compiled again and again with no entry to refuse a call."""

    place: Place
    compiles: tuple[Compile, ...]
    calls: int
    """Calls of the regions that enter these code objects."""

    @property
    def same_code(self) -> bool:
        """True when it is one code object, whose entries are gone each time."""
        return len({event.code_object for event in self.compiles}) < FRESH


def made_anew(view: View) -> tuple[Anew, ...]:
    """Places that still compile from an empty cache line in the tail of their calls.

    Compiles per call decide, not an outcome's name: after a reset, and for a code object that
    is made anew, each compile is a first one.
    """
    by_place: defaultdict[tuple[object, ...], list[Compile]] = defaultdict(list)
    for event in view.compiles:
        code = view.code.get(event.code_object)
        if code and event.kept and event.entries_before == 0 and not view.is_foreign(code.id):
            by_place[_source(code.file), code.line, code.name].append(event)
    found = (_anew(view, events) for events in by_place.values())
    return tuple(anew for anew in found if anew)


def _source(file: str) -> str:
    """The file; generated sources (``<loss 3>``) count as one."""
    return file.rstrip(">").rstrip("0123456789") if file.startswith("<") else file


def _anew(view: View, events: list[Compile]) -> Anew | None:
    if len(events) < FRESH:
        return None
    code = {event.code_object for event in events}
    regions = sorted({region for one in code for region in view.regions_on(one)})
    places = _places(view, regions)
    calls = sum(view.length(region) for region in regions)
    tail = tail_of(calls)
    compiled = {places(view.region_of(event), event.call) for event in events}
    still = sum(at is not None and at >= calls - tail for at in compiled)
    if not calls or still < min(tail, 2):
        return None
    return Anew(view.code[events[0].code_object].place, tuple(events), calls)


def _places(view: View, regions: list[int]) -> Callable[[int | None, int | None], int | None]:
    """Where a region's call stands among all calls of some regions; None: not known.

    In order of time where calls were kept apart; else one region after the other.
    """
    order = sorted((c.at_ns, c.region, c.index) for r in regions for c in view.calls.get(r, ()))
    if order:
        at: dict[tuple[int | None, int | None], int] = {
            (region, index): place for place, (_, region, index) in enumerate(order)
        }
        return lambda region, call: at.get((region, call))
    lengths = (view.length(region) for region in regions)
    first = dict(zip(regions, accumulate(lengths, initial=0), strict=False))
    return lambda region, call: None if call is None else first.get(region or 0, 0) + call
