"""Graph executions per served call of a region: the instrument that decides CAPTURED."""

from __future__ import annotations

from dataclasses import dataclass

from compile_ledger.facts.calls import SERVED, Call

from .silent import unserved
from .view import View

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
    """From a recording's totals: entry runs of the region's code objects over its calls."""
    counters = view.arm.counters
    calls = view.length(region)
    if counters is None or not calls or any(code.uncounted for code in view.code.values()):
        return None
    mine = {c.code_object for c in view.compiles_of(region)}
    mine |= {c.code_object for c in view.inherited if c.region == region}
    known = view.regions.get(region)
    if known and known.root is not None:
        mine.add(known.root)
    served = calls - unserved(view, region)
    alone = all(len(view.regions_on(code)) == 1 for code in mine)
    if not alone or (mine and not counters.entries) or served <= 0:
        return None
    every = (*view.compiles, *view.inherited)
    bare = {(c.code_object, c.compile_id) for c in every if c.kept and not c.has_graph}
    runs = sum(
        entry.runs
        for entry in counters.entries
        if entry.code_object in mine and (entry.code_object, entry.compile_id) not in bare
    )
    per_call = round(runs / served, 2)
    return GraphsPerCall(region, calls, served, per_call, per_call, settled=False)
