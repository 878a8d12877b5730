"""Regions that never got an entry: their calls raised, or others had filled their line."""

from __future__ import annotations

from compile_ledger.judge.view import View
from compile_ledger.judge.words import count, listed

_TURNED_AWAY = frozenset({"refused", "fell_back"})


def shut_out_words(view: View) -> str:
    """Why nothing can be said of some regions' graphs: no call of theirs could have one."""
    raising = [region for region in view.called if _only_raises(view, region)]
    if raising:
        return f"every call of {_targets(view, raising)} raised: RUNS has the exception"
    regions = [region for region in view.called if _is_shut_out(view, region)]
    if not regions:
        return ""
    every = sum(len(view.calls[region]) for region in regions)
    return (
        f"{count(len(regions), 'region')} of {len(view.called)} ({_targets(view, regions)}) ran "
        "no graph in "
        f"{count(every, 'call')}: other regions had filled the cache line that they share"
    )


def _targets(view: View, regions: list[int]) -> str:
    return listed(sorted({view.target(region) for region in regions}), 3)


def _only_raises(view: View, region: int) -> bool:
    calls = view.calls.get(region, ())
    return bool(calls) and all(call.disposition == "raised" for call in calls)


def _is_shut_out(view: View, region: int) -> bool:
    """True when all calls of a region met a limit, on a line that others fill, too."""
    calls = view.calls.get(region, ())
    known = view.regions.get(region)
    if not calls or known is None or known.root is None:
        return False
    mine = any(c.kept for c in view.compiles if c.region == region)
    away = all(call.disposition in _TURNED_AWAY for call in calls)
    return away and not mine and len(view.regions_on(known.root)) > 1
