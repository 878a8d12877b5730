"""The graph breaks of an arm or a region, each once."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from compile_ledger.facts.arm import Arm
from compile_ledger.facts.graph_break import GraphBreak
from compile_ledger.judge.view import View, look

Key = tuple[str, str]


def key_of(found: GraphBreak) -> Key:
    """What makes two breaks the same: place and reason."""
    return str(found.place), found.reason


def distinct(breaks: Iterable[GraphBreak]) -> list[GraphBreak]:
    """Each break once, where it was first seen."""
    kept: dict[Key, GraphBreak] = {}
    for found in breaks:
        kept.setdefault(key_of(found), found)
    return list(kept.values())


def breaks_of(arm: Arm, regions: Collection[int | None] | None = None) -> list[GraphBreak]:
    """The distinct breaks of some regions, or of all, in the order seen."""
    view = look(arm)
    chosen = (c for c in view.compiles if regions is None or view.region_of(c) in regions)
    return distinct(found for event in chosen for found in event.breaks)


def breaks_in(view: View, region: int) -> list[GraphBreak]:
    """The distinct breaks of one region, in the order seen."""
    return distinct(found for event in view.compiles_of(region) for found in event.breaks)
