"""Graph executions per served call of a region: the instrument that decides CAPTURED."""

from __future__ import annotations

from dataclasses import dataclass

from compile_ledger.facts.calls import SERVED, Call
from compile_ledger.judge.stable.silent import unserved
from compile_ledger.judge.view import Group, View

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
    group = view.group(region)
    if group not in view.worked_out:
        view.worked_out[group] = _from_counters(view, group)
    reading: GraphsPerCall | None = view.worked_out[group]
    return reading if view.length(region) else None


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


def _from_counters(view: View, shared: Group) -> GraphsPerCall | None:
    """From a recording's totals: entry runs over calls, of regions that share code together.

    Entries older than the recording may serve a region that was not seen to make them.
    """
    counters = view.arm.counters
    if counters is None or view.uncounted:
        return None
    if any(view.region_of(event) is None for event in view.inherited):
        return None
    group, mine = shared.regions, shared.code
    calls = sum(view.length(member) for member in group)
    earlier = any(c.kept and c.code_object in mine for c in view.inherited)
    kept = earlier or any(c.kept for code in mine for c in view.events_on(code))
    ran = any(view.code_runs.values())
    if (kept and not counters.entries) or (not mine and ran):
        return None
    roots = {known.root for member in group if (known := view.regions.get(member))}
    entered = sum(view.code_runs.get(root, 0) for root in roots if root is not None)
    served = min(calls - unserved(view, group), entered or calls)
    if served <= 0 or entered > calls:
        return None  # Others enter this code, too: a caller inside another region, a late run.
    per_call = round(sum(view.graph_runs.get(code, 0) for code in mine) / served, 2)
    return GraphsPerCall(group[0], calls, served, per_call, per_call, settled=False)
