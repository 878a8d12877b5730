"""Streams: the calls that one cache line has to serve, in order, and its compiles."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from compile_ledger.facts.calls import SERVED, Call, Disposition
from compile_ledger.facts.compile import Compile
from compile_ledger.judge.view import View

SHORTEST = 4
"""Calls below which a stream cannot show that compiling has ended: the first call
always compiles, and the tail is at least three calls."""


def tail_of(calls: int) -> int:
    """How many of so many calls are the tail: at least 3, and a third."""
    return max(3, math.ceil(calls / 3))


@dataclass(frozen=True, slots=True)
class Event:
    """A compile, and the position in the stream of the call that it happened in."""

    at: int | None
    """None: the recording does not say."""
    compile: Compile


@dataclass(frozen=True, slots=True)
class Stream:
    """The calls of a region, or of regions that compile one and the same function."""

    regions: tuple[int, ...]
    length: int
    events: tuple[Event, ...]
    dispositions: tuple[Disposition | None, ...]
    """One a call; empty where calls were only counted."""

    @property
    def tail(self) -> int:
        """Calls in the tail: at least 3 and a third of the stream."""
        return tail_of(self.length)

    @property
    def tail_start(self) -> int:
        """The position at which the tail begins."""
        return self.length - self.tail

    @property
    def too_short(self) -> bool:
        """True when the stream cannot tell whether compiling has ended."""
        return self.length < SHORTEST

    def where(self, *dispositions: Disposition) -> tuple[int, ...]:
        """Positions of the calls with one of these dispositions."""
        return tuple(i for i, d in enumerate(self.dispositions) if d in dispositions)

    def counted(self) -> Counter[str]:
        """How many calls had each disposition; from compiles where calls were counted only."""
        if self.dispositions:
            return Counter(d for d in self.dispositions if d)
        found: Counter[str] = Counter(event.compile.outcome for event in self.events)
        found["reused"] = max(0, self.length - sum(found.values()))
        return found


def nothing_captured(view: View) -> bool:
    """True when no call made an entry or ran one: there is nothing that could be stable."""
    counters = view.arm.counters
    kept = any(event.kept for event in (*view.compiles, *view.inherited))
    ran = any(entry.runs for entry in counters.entries) if counters else False
    return not kept and not ran and not any(c.disposition in SERVED for c in view.arm.calls)


def streams(view: View) -> tuple[Stream, ...]:
    """Every stream of an arm. Regions that were never called have none."""
    made = (_stream(view, group) for group in _groups(view))
    return tuple(stream for stream in made if stream.length)


def _groups(view: View) -> list[tuple[int, ...]]:
    """Regions that wrap the same function share a stream; others stand alone."""
    ids = sorted({*view.regions, *view.calls, *_compiling(view)})
    together: defaultdict[object, list[int]] = defaultdict(list)
    for region in ids:
        together[_key(view, region)].append(region)
    return [tuple(group) for group in together.values()]


def _compiling(view: View) -> set[int]:
    found = (view.region_of(event) for event in view.compiles)
    return {region for region in found if region is not None}


def _key(view: View, region: int) -> object:
    known = view.regions.get(region)
    if known is None or known.root is None or known.kind != "function":
        return region
    return (known.root, known.target, known.target_place)


def _stream(view: View, group: tuple[int, ...]) -> Stream:
    calls = [call for region in group for call in view.calls.get(region, ())]
    if len(group) > 1:
        calls.sort(key=lambda call: call.at_ns)
    length = max(len(calls), sum(view.length(region) for region in group))
    compiles = [event for region in group for event in view.compiles_of(region)]
    compiles.sort(key=lambda event: event.started_ns)
    places = {(call.region, call.index): i for i, call in enumerate(calls)}
    events = tuple(Event(_position(c, view, calls, places, length), c) for c in compiles)
    return Stream(group, length, events, tuple(call.disposition for call in calls))


def _position(
    event: Compile,
    view: View,
    calls: Sequence[Call],
    places: dict[tuple[int, int], int],
    length: int,
) -> int | None:
    """Where in the stream: by call, else by time, else unknown."""
    region = view.region_of(event)
    if event.call is not None and region is not None:
        if not calls:
            return event.call
        if (region, event.call) in places:
            return places[region, event.call]
    if calls and event.started_ns:
        return max(0, bisect_right([c.at_ns for c in calls], event.started_ns) - 1)
    counters = view.arm.counters
    if not calls and event.started_ns and counters and counters.at_ns:
        return min(length - 1, int(length * event.started_ns / counters.at_ns))
    return None
