"""What compiles cost: CPU seconds of the calls in which they happened."""

from __future__ import annotations

from collections.abc import Iterable
from statistics import median

from compile_ledger.facts.compile import Compile

from .view import View


def compile_seconds(view: View, events: Iterable[Compile]) -> float | None:
    """CPU seconds of the calls that compiled, beyond a usual reused call.

    Where calls are not kept apart: CPU time of the compiles themselves, else None.
    """
    every = list(events)
    calls = {(view.region_of(c), c.call) for c in every if c.call is not None}
    spent = [
        max(0, call.cpu_ns - _usual(view, region))
        for region in view.calls
        for call in view.calls[region]
        if (region, call.index) in calls and call.cpu_ns
    ]
    if spent:
        return sum(spent) / 1e9
    known = [c.cpu_ns for c in every if c.cpu_ns is not None]
    return sum(known) / 1e9 if known else None


def _usual(view: View, region: int) -> float:
    """CPU nanoseconds of a usual reused call of a region; 0 when there is none."""
    reused = [c.cpu_ns for c in view.calls.get(region, ()) if c.disposition == "reused"]
    return median(reused) if reused else 0.0
