"""A timeline's spans as calls, where not one call is missing."""

from __future__ import annotations

from collections.abc import Iterable

from compile_ledger.facts.calls import Call, Counters
from compile_ledger.facts.timeline import Span, Timeline

MOST = 100_000
"""Calls that are told apart; a longer timeline is left as totals."""


def calls_of(timelines: Iterable[Timeline], counters: Counters | None) -> tuple[Call, ...]:
    """Every call in the order in which they ended; nothing where the ring lost any.

    Times are not known call by call, so they are 0.
    """
    parts = [(part.at_ns, span) for part in timelines for span in part.spans]
    held: dict[int, int] = {}
    for _, span in parts:
        held[span.region] = held.get(span.region, 0) + span.calls
    counted = {r.region: r.calls for r in counters.regions if r.calls} if counters else {}
    if held != counted or sum(held.values()) > MOST:
        return ()
    return tuple(call for at_ns, span in parts for call in _calls(at_ns, span))


def _calls(at_ns: int, span: Span) -> Iterable[Call]:
    for number in range(span.calls):
        yield Call(
            region=span.region,
            index=span.first + number,
            disposition=span.disposition,
            at_ns=at_ns,
            runs=span.runs,
            graphs=span.graphs,
            silent=span.silent,
            thread=span.thread,
        )
