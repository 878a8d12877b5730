"""Other inputs whose sizes change in the same calls: a guard names the first one only."""

from __future__ import annotations

from itertools import pairwise

from compile_ledger.judge.view import View
from compile_ledger.judge.words import listed

from .causes import Cause
from .values import parameter

_MOST = 3


def changed_along(view: View, found: Cause, region: int | None) -> str:
    """``, weight with it``, from the sizes that calls kept; or nothing.

    Only inputs that change size in every call in which the named one does, against the
    call before it.
    """
    if found.key.kind != "size" or region is None:
        return ""
    sizes = [call.sizes for call in view.calls.get(region, ())]
    name = parameter(found.key.subject)
    pairs = [(a, b) for a, b in pairwise(sizes) if name in a and name in b]
    moved = [(a, b) for a, b in pairs if a[name] != b[name]]
    others = {other for pair in moved for side in pair for other in side if other != name}
    along = {o: _axes(o, moved) for o in sorted(others) if all(_moves(o, pair) for pair in moved)}
    said = [_named(other, axes, found.key.axis) for other, axes in along.items() if axes]
    return f", {listed(said, _MOST)} with it" if said else ""


def _named(name: str, axes: list[int], axis: int | None) -> str:
    """An input, with its axes where they are not the named one's."""
    return name if axes == [axis] else f"{name} (axis {', '.join(map(str, axes))})"


_Sizes = dict[str, tuple[int, ...]]
_Pair = tuple[_Sizes, _Sizes]


def _moves(name: str, pair: _Pair) -> bool:
    before, after = pair
    return name in before and name in after and before[name] != after[name]


def _axes(name: str, pairs: list[_Pair]) -> list[int]:
    """The axes that differ in any of the pairs; none where the rank differs."""
    found = set()
    for before, after in pairs:
        if len(before[name]) != len(after[name]):
            return []
        both = zip(before[name], after[name], strict=True)
        found |= {i for i, (a, b) in enumerate(both) if a != b}
    return sorted(found)
