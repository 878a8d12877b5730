"""Rows of the ledger: regions, and code objects with their cache lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from compile_ledger.facts.calls import DISPOSITIONS, WORST_FIRST, Disposition
from compile_ledger.facts.compile import Compile

from .captured.break_words import worded
from .document import CodeObjectRow, Entry, Limit, Off, RegionRow
from .stable.silent import counted_on, unserved
from .view import View, runs_of


def region_rows(view: View) -> tuple[RegionRow, ...]:
    """One row for each region, called or not."""
    ids = sorted({*view.regions, *view.calls})
    return tuple(_region(view, region) for region in ids)


def _region(view: View, region: int) -> RegionRow:
    known = view.regions.get(region)
    entered = {c.code_object for c in view.compiles_of(region)}
    if known and known.root is not None:
        entered.add(known.root)
    return RegionRow(
        id=region,
        site=known.site if known else None,
        target=known.target if known else "",
        compile_kwargs=dict(known.compile_kwargs) if known else {},
        calls=view.length(region),
        dispositions=_dispositions(view, region),
        code_objects=tuple(sorted(entered)),
        kind=known.kind if known else "function",
        library=known.library if known else None,
    )


def _dispositions(view: View, region: int) -> dict[str, int]:
    """All eight dispositions, those that never happened as 0."""
    calls = view.calls.get(region, ())
    found = Counter(call.disposition for call in calls) if calls else _from_totals(view, region)
    return {str(name): found[name] for name in DISPOSITIONS}


def _from_totals(view: View, region: int) -> Counter[Disposition | None]:
    """What became of calls that were only counted: misses as seen, the rest by number."""
    worst: dict[int, Disposition] = {}
    for number, event in enumerate(view.compiles_of(region)):
        key = event.call if event.call is not None else -1 - number
        worst[key] = min(worst.get(key, event.outcome), event.outcome, key=WORST_FIRST.index)
    calls = view.length(region)
    told = sorted(worst.values(), key=WORST_FIRST.index)
    found: Counter[Disposition | None] = Counter(told[:calls])
    lost = sum(found[name] for name in ("refused", "switched_off", "raised"))
    found["fell_back"] += max(0, unserved(view, (region,)) - lost)
    rest = max(0, calls - found.total())
    made = found["compiled"] + found["recompiled"]
    entered = entered_calls(view, region)
    reused = rest if entered is None else min(rest, max(0, entered - made))
    found["reused"] += reused
    found[_when_not_entered(view, region)] += rest - reused
    return found


def _when_not_entered(view: View, region: int) -> Disposition:
    """What calls were that met nothing and entered no compiled code, as the first frame tells."""
    known = view.regions.get(region)
    root = known.root if known else None
    met = {c.outcome for c in view.events_on(root)} if root is not None else set()
    if "switched_off" in met:
        return "switched_off"
    counters = view.arm.counters
    uncounted = counters is None or counters.lookups is None
    return "fell_back" if uncounted and "refused" in met else "skipped"


def entered_calls(view: View, region: int) -> int | None:
    """Calls in which an entry of the region's first frame ran; None where that is not known."""
    counters, known = view.arm.counters, view.regions.get(region)
    root = known.root if known else None
    if counters is None or root is None or view.regions_on(root) != (region,):
        return None
    kept = any(c.kept for c in view.events_on(root))
    if view.uncounted or (kept and not counters.entries):
        return None
    return view.code_runs.get(root, 0)


def code_object_rows(view: View) -> tuple[CodeObjectRow, ...]:
    """One row for each code object with compiles, and for the user's own, by id."""
    tried = {c.code_object for c in view.compiles}
    own = {code for code, known in view.code.items() if not known.library}
    ids = sorted({*tried, *own, *(view.roots.keys() & view.code.keys())})
    return tuple(_code_object(view, code) for code in ids)


def _code_object(view: View, code: int) -> CodeObjectRow:
    known = view.code.get(code)
    events = view.events_on(code)
    line = tuple(_entry(view, code, c) for c in events if c.kept)
    runs = [e.runs for e, c in zip(line, (c for c in events if c.kept), strict=True) if c.has_graph]
    counted = [number for number in runs if number is not None]
    return CodeObjectRow(
        id=code,
        name=known.name if known else "",
        file=known.file if known else "",
        line=known.line if known else 0,
        compiles=len(line),
        entries=len(line),
        graphs=sum(c.has_graph for c in events),
        graph_runs=sum(counted) if counted or not runs else None,
        recompile_reasons=tuple(reason for c in events for reason in c.reasons),
        limit=_limit(events),
        off=_off(events),
        cache_line=line,
        library=bool(known and known.library),
        attempts=sum(c.kept or c.outcome != "skipped" for c in events),
        silent=counted_on(view, code),
    )


def _entry(view: View, code: int, event: Compile) -> Entry:
    spent = event.cpu_ns if event.cpu_ns is not None else (event.wall_ns or None)
    return Entry(
        compile_id=event.compile_id,
        runs=_runs(view, code, event.compile_id),
        graph_ops=event.graph_ops,
        guards=event.guards,
        seconds=spent / 1e9 if spent is not None else None,
        made_for=event.reasons[0] if event.reasons else "",
    )


def _runs(view: View, code: int, compile_id: str) -> int | None:
    """How often an entry ran: from the final counters, else from the calls."""
    counted = view.entry_runs.get((code, compile_id))
    if counted is not None:
        return counted
    if not any(call.graphs is not None for call in view.arm.calls):
        return None
    return sum(runs_of(call, code, compile_id) for call in view.arm.calls)


def _limit(events: Sequence[Compile]) -> Limit | None:
    hit = next((c for c in events if c.hit_limit), None)
    return Limit(hit.limit or "recompile_limit", hit.call, hit.limit_value) if hit else None


def _off(events: Sequence[Compile]) -> Off | None:
    found = next((c for c in events if c.outcome in ("switched_off", "skipped")), None)
    if found is None:
        return None
    reason = found.why or next((b.reason for b in found.breaks), "") or found.outcome
    return Off(found.call, worded(reason))
