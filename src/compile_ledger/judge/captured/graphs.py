"""Graph executions per served call of a region: the instrument that decides CAPTURED."""

from __future__ import annotations

from dataclasses import dataclass

from compile_ledger.facts.calls import SERVED, Call
from compile_ledger.judge.stable.silent import unserved
from compile_ledger.judge.view import View

_UNSERVED = (None, "skipped", "switched_off")
"""Dispositions of calls that Dynamo never served: they count when no call was served."""


@dataclass(frozen=True, slots=True)
class GraphsPerCall:
    """What the calls of one region ran."""

    region: int
    calls: int
    """Calls of the region."""
    served: int
    """Calls that the counts below come from."""
    low: float
    high: float
    settled: bool
    """True when the counts come from reused calls only."""
    many: int = 0
    """Calls of those that ran more than one graph."""

    @property
    def text(self) -> str:
        """``1`` or ``2 to 3``."""
        low, high = f"{self.low:g}", f"{self.high:g}"
        return low if low == high else f"{low} to {high}"


def graph_readings(view: View) -> list[GraphsPerCall | None]:
    """One for each region that was called, or for those that share code where totals tell.

    None where graphs were not counted.
    """
    found = [graphs_per_call(view, region) for region in view.called]
    first = {reading.region: reading for reading in found if reading}
    return [*first.values(), *(reading for reading in found if reading is None)]


def graphs_per_call(view: View, region: int) -> GraphsPerCall | None:
    """Count for one region; None where entries were not counted, or nothing was called."""
    calls = view.calls.get(region, ())
    if calls:
        return _from_calls(region, calls)
    return _from_counters(view, region)


def _from_calls(region: int, calls: tuple[Call, ...]) -> GraphsPerCall | None:
    """From calls kept apart: reused ones where there are any, else all served."""
    counted = [c for c in calls if c.graphs is not None and c.disposition != "raised"]
    served = [c for c in counted if c.disposition in SERVED]
    reused = [c for c in served if c.disposition == "reused"]
    chosen = reused or served or [c for c in counted if c.disposition in _UNSERVED]
    if not chosen:
        return None
    graphs = [c.graphs or 0 for c in chosen]
    many = sum(number > 1 for number in graphs)
    settled = bool(reused)
    return GraphsPerCall(region, len(calls), len(chosen), min(graphs), max(graphs), settled, many)


def _from_counters(view: View, region: int) -> GraphsPerCall | None:
    """From a recording's totals: entry runs over calls, of regions that share code together.

    Entries older than the recording may serve a region that was not seen to make them.
    """
    counters = view.arm.counters
    if counters is None or not view.length(region):
        return None
    if view.uncounted:
        return None
    if any(view.region_of(event) is None for event in view.inherited):
        return None
    group, mine = _sharing(view, region)
    calls = sum(view.length(member) for member in group)
    ran = any(entry.runs for entry in counters.entries)
    kept = any(c.kept for c in (*view.compiles, *view.inherited) if c.code_object in mine)
    if (kept and not counters.entries) or (not mine and ran):
        return None
    roots = {known.root for member in group if (known := view.regions.get(member))}
    entered = sum(entry.runs for entry in counters.entries if entry.code_object in roots)
    served = min(calls - unserved(view, group), entered or calls)
    if served <= 0 or entered > calls:
        return None  # Others enter this code, too: a caller inside another region, a late run.
    per_call = round(_graph_runs(view, mine) / served, 2)
    return GraphsPerCall(group[0], calls, served, per_call, per_call, settled=False)


def _sharing(view: View, region: int) -> tuple[tuple[int, ...], set[int]]:
    """The regions that share code objects with one, directly or not, and those code objects."""
    group, mine = {region}, code_of(view, region)
    while True:
        more = {other for code in mine for other in view.regions_on(code)} - group
        if not more:
            return tuple(sorted(group)), mine
        group |= more
        mine |= {code for other in more for code in code_of(view, other)}


def code_of(view: View, region: int) -> set[int]:
    """The code objects that a region enters first, or compiled."""
    made = (*view.compiles_of(region), *(c for c in view.inherited if c.region == region))
    known = view.regions.get(region)
    root = {known.root} if known and known.root is not None else set()
    return {event.code_object for event in made} | root


def _graph_runs(view: View, code_objects: set[int]) -> int:
    """Runs of the entries of some code objects that hold a graph."""
    every = (*view.compiles, *view.inherited)
    bare = {(c.code_object, c.compile_id) for c in every if c.kept and not c.has_graph}
    entries = view.arm.counters.entries if view.arm.counters else ()
    return sum(
        entry.runs
        for entry in entries
        if entry.code_object in code_objects and (entry.code_object, entry.compile_id) not in bare
    )
