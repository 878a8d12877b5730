"""Calls that no entry took and that ran eagerly without a word."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from compile_ledger.judge.view import View


def silent_calls(view: View, regions: Iterable[int]) -> tuple[tuple[int, int], ...]:
    """Calls (region, index) that fell back to eager, where calls were kept apart."""
    return tuple(
        (call.region, call.index)
        for region in regions
        for call in view.calls.get(region, ())
        if call.disposition == "fell_back" and not call.stance
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


def silent_on(view: View, code_object: int) -> int | None:
    """Silent runs of one frame: as the interpreter counted them, else by subtraction.

    None where calls were kept apart (they say it themselves), and where neither tells.
    """
    if view.arm.calls:
        return None
    seen = counted_on(view, code_object)
    return subtracted_on(view, code_object) if seen is None else seen


def counted_on(view: View, code_object: int) -> int | None:
    """Silent runs of a frame past a limit that the interpreter counted; None: it did not."""
    counters = view.arm.counters
    found = () if counters is None else counters.eager
    return next((eager.silent for eager in found if eager.code_object == code_object), None)


def counted_past_limits(view: View) -> int:
    """Silent runs past every limit that the interpreter counted, those hit earlier too."""
    counters = view.arm.counters
    return sum(eager.silent for eager in counters.eager) if counters else 0


def subtracted_on(view: View, code_object: int) -> int | None:
    """Silent calls of the frame that regions enter first: their calls less its runs and misses.

    None where that does not tell: a frame entered otherwise, too, entries not counted, or
    no lookups to check it against (calls under ``force_eager`` would be taken for silent).
    """
    counters, regions = view.arm.counters, view.regions_on(code_object)
    own = view.roots.get(code_object, ())
    if view.arm.calls or counters is None or counters.lookups is None:
        return None
    if not counters.entries or set(own) != set(regions):
        return None
    if view.uncounted:
        return None
    runs = view.code_runs.get(code_object, 0)
    missed = sum(not c.kept for c in view.events_on(code_object))
    found = max(0, sum(view.length(region) for region in own) - runs - missed)
    return None if found > silent_lookups(view) else found


def silent_after(view: View, code_object: int) -> tuple[int, bool]:
    """Silent calls after one limit, and whether the number is that limit's own.

    Where several limits were hit and it cannot be told apart, the number is of them all.
    """
    own = silent_on(view, code_object)
    if own is not None:
        return own, True
    limited = {c.code_object for c in view.compiles if c.hit_limit}
    known = {code: silent_on(view, code) for code in limited}
    total = silent_lookups(view)
    if sum(number is None for number in known.values()) == 1:
        return max(0, total - sum(number or 0 for number in known.values())), True
    return total, False


def unserved(view: View, regions: Collection[int]) -> int:
    """Calls of regions that share code which no compiled code served, from totals.

    Silent calls belong to the regions whose frames they passed, where the interpreter counted
    them; else to those whose first frame it was; where only a frame inside fell back, to those
    regions if no other hit a limit.
    """
    events = [event for region in regions for event in view.compiles_of(region)]
    lost = sum(event.outcome in ("refused", "switched_off", "raised") for event in events)
    limited = view.limited
    counted = _counted_in(view, regions) if limited else None
    if counted is not None:
        return min(lost + counted, sum(view.length(region) for region in regions))
    if limited and limited <= set(regions):
        return lost + silent_lookups(view)
    roots = {known.root for region in regions if (known := view.regions.get(region))}
    own = [root for root in roots if root is not None and _all_in(view, root, regions)]
    return lost + sum(silent_on(view, root) or 0 for root in own if limited & set(regions))


def _all_in(view: View, root: int, regions: Collection[int]) -> bool:
    entering = view.roots.get(root, ())
    return len(entering) <= len(regions) and set(entering) <= set(regions)


def _counted_in(view: View, regions: Collection[int]) -> int | None:
    """Silent runs of the frames past a limit that only these regions enter; None: some unseen."""
    full = {c.code_object for c in view.compiles if c.outcome == "refused"}
    mine = {code for code in full if set(view.regions_on(code)) & set(regions)}
    own = [code for code in mine if set(view.regions_on(code)) <= set(regions)]
    known = [number for code in own if (number := counted_on(view, code)) is not None]
    return sum(known) if mine and len(known) == len(mine) and not view.arm.calls else None
