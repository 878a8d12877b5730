"""Calls that no entry took and that ran eagerly without a word."""

from __future__ import annotations

from collections.abc import Iterable

from .view import View


def silent_calls(view: View, regions: Iterable[int]) -> tuple[tuple[int, int], ...]:
    """Calls (region, index) that fell back to eager, where calls were kept apart."""
    return tuple(
        (call.region, call.index)
        for region in regions
        for call in view.calls.get(region, ())
        if call.disposition == "fell_back"
    )


def silent_lookups(view: View) -> int:
    """Lookups that neither hit an entry nor reached Dynamo, from the counters' totals.

    Zero where calls were kept apart (they say it themselves), or where lookups were
    not counted. The run that follows a compile is no hit: it was a miss first.
    """
    counters = view.arm.counters
    if view.arm.calls or counters is None or counters.lookups is None:
        return 0
    if counters.silent is not None:
        return counters.silent
    kept = sum(event.kept for event in view.compiles)
    hits = sum(entry.runs for entry in counters.entries) - kept
    misses = sum(event.entries_before > 0 for event in view.compiles)
    return max(0, counters.lookups - hits - misses)


def unserved(view: View, region: int) -> int:
    """Calls of a region that no compiled code served, from the counters' totals.

    Silent lookups belong to the region that hit a limit; where several did, they
    cannot be told apart and are left out.
    """
    events = view.compiles_of(region)
    lost = sum(event.outcome in ("refused", "switched_off", "raised") for event in events)
    limited = {view.region_of(c) for c in view.compiles if c.outcome == "refused"}
    return lost + (silent_lookups(view) if limited == {region} else 0)
