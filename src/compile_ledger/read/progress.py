"""What a live recording shows of each region: calls, rate, dispositions, entries."""

from __future__ import annotations

import dataclasses
from collections import Counter
from dataclasses import dataclass

from compile_ledger.facts.calls import WORST_FIRST
from compile_ledger.facts.compile import Compile
from compile_ledger.facts.place import Place

from .live import Live

DEFAULT_LIMIT = 8
"""torch's own ``recompile_limit``, shown until a limit was seen to be hit."""


@dataclass(frozen=True)
class Row:
    """One region now."""

    target: str
    site: Place | None
    calls: int
    rate: float | None
    """Calls per second between the last two readings; None before there are two."""
    outcomes: dict[str, int]
    """Calls by what became of them, as far as it is known: the rest is left out."""
    entries: int
    """Entries on the fullest of the region's code objects."""
    limit: int
    refused: bool
    runs: int
    """Runs of the region's entries beyond the first of each: no more calls were reused."""
    last: Compile | None = None
    """The last recompile on that code object."""
    fullgraph: bool = False


def rows(live: Live) -> tuple[Row, ...]:
    """One row for each region of a process, the busiest first."""
    counted = {r.region: r.calls for r in live.counters.regions} if live.counters else {}
    ids = sorted({*live.regions, *counted}, key=lambda region: -counted.get(region, 0))
    made = [_row(live, region, counted.get(region, 0)) for region in ids]
    limited = sum(row.refused for row in made)
    silent = live.counters.silent if live.counters else None
    return tuple(
        _rest(row, silent, alone=limited == 1) if own is None else _rest(row, own, alone=True)
        for row, own in (
            (row, _counted(live, region)) for row, region in zip(made, ids, strict=True)
        )
    )


def _counted(live: Live, region: int) -> int | None:
    """Silent runs of the frames that only this region entered, as the interpreter counted."""
    full = {c.code_object for c in live.compiles if c.outcome == "refused" and c.region == region}
    by = {e.code_object: e.silent for e in live.counters.eager} if live.counters else {}
    others = {c.code_object for c in live.compiles if c.region != region}
    return None if not full or full & others or not full <= set(by) else sum(by[c] for c in full)


def _rest(row: Row, silent: int | None, *, alone: bool) -> Row:
    """Calls that met no miss: reused, or silent where one region alone hit a limit."""
    found = dict(row.outcomes)
    if "switched_off" in found or (row.refused and not (alone and silent is not None)):
        return row
    if row.refused and silent:
        found["fell_back"] = silent
    found["reused"] = min(row.runs, max(0, row.calls - sum(found.values())))
    return dataclasses.replace(row, outcomes={k: n for k, n in found.items() if n})


def _row(live: Live, region: int, calls: int) -> Row:
    known = live.regions.get(region)
    mine = [event for event in live.compiles if event.region == region]
    hit = next((event for event in mine if event.hit_limit), None)
    kept = Counter(event.code_object for event in mine if event.kept)
    (fullest, entries), *_ = kept.most_common(1) or [(-1, 0)]
    again = [e for e in mine if e.code_object == fullest and e.outcome == "recompiled"]
    limit = known.recompile_limit if known else None
    return Row(
        target=known.target if known else f"region {region}",
        site=known.site if known else None,
        calls=calls,
        rate=_rate(live, region, calls),
        outcomes=_outcomes(mine),
        entries=entries,
        limit=(hit.limit_value if hit else None) or limit or DEFAULT_LIMIT,
        refused=hit is not None,
        runs=_later_runs(live, {*kept, *([known.root] if known else [])}, sum(kept.values())),
        last=again[-1] if again else None,
        fullgraph=known is not None and known.compile_kwargs.get("fullgraph") == "True",
    )


def _later_runs(live: Live, code: set[int | None], compiled: int) -> int:
    """Runs of entries on some code objects, less the one that follows each compile.

    A call in progress is counted already and has run nothing yet.
    """
    entries = live.counters.entries if live.counters else ()
    return max(0, sum(e.runs for e in entries if e.code_object in code) - compiled)


def _rate(live: Live, region: int, calls: int) -> float | None:
    if live.before is None or live.counters is None or live.state != "running":
        return None
    before = next((r.calls for r in live.before.regions if r.region == region), 0)
    seconds = (live.counters.at_ns - live.before.at_ns) / 1e9
    return (calls - before) / seconds if seconds > 0 else None


def _outcomes(events: list[Compile]) -> dict[str, int]:
    worst: dict[int, str] = {}
    order: list[str] = list(WORST_FIRST)
    for number, event in enumerate(events):
        if event.inherited:
            continue
        key = event.call if event.call is not None else -1 - number
        worst[key] = min(worst.get(key, event.outcome), event.outcome, key=order.index)
    return dict(Counter(worst.values()))


def last_event(live: Live) -> str:
    """The last frame that reached Dynamo, in one line; empty before there is one.

    Frames that a rule keeps out are no news.
    """
    events = [event for event in live.compiles if event.outcome != "skipped"]
    if not events:
        return ""
    event = events[-1]
    code = live.code.get(event.code_object)
    name = code.name if code else "a frame"
    at = f" in call {event.call}" if event.call is not None else ""
    why = event.reasons[0] if event.reasons else event.why.partition("\n")[0]
    told = f"{event.limit} hit: " if event.limit else ""
    return f"{event.outcome} {name}{at}" + (f": {told}{why}" if why else "")
