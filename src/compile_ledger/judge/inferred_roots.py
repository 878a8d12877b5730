"""The code object that a region enters when none of its calls reached Dynamo.

Calls that fall back from the first on, or that other regions' entries take, have no
compile to tell the root by: their line is that of the regions that compile the same
target, or the one that is full.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

from compile_ledger.facts.arm import Arm
from compile_ledger.facts.place import Place
from compile_ledger.facts.region import Region


def with_roots(arm: Arm) -> tuple[Region, ...]:
    """The regions of an arm, those that only ever fell back with the root of their likes."""
    lost = _only_silent(arm) | _never_compiled(arm)
    if not lost:
        return arm.regions
    full = {c.code_object for c in arm.compiles if c.hit_limit}
    alike: defaultdict[Place | None, set[int]] = defaultdict(set)
    for region in arm.regions:
        if region.root is not None:
            alike[region.target_place].add(region.root)
    alone = full if arm.calls else set()
    alike[None] = set()
    return tuple(
        replace(region, root=_root(alike[region.target_place], full, alone))
        if region.id in lost
        else region
        for region in arm.regions
    )


def _only_silent(arm: Arm) -> set[int]:
    """Regions without root or compile, every call of which fell back."""
    silent = {call.region for call in arm.calls if call.disposition == "fell_back"}
    silent -= {call.region for call in arm.calls if call.disposition != "fell_back"}
    silent -= {event.region for event in arm.compiles if event.region is not None}
    return {region.id for region in arm.regions if region.root is None} & silent


def _never_compiled(arm: Arm) -> set[int]:
    """Regions of a recording that were called, and none of whose calls reached Dynamo."""
    if arm.calls or arm.counters is None:
        return set()
    called = {of.region for of in arm.counters.regions if of.calls}
    called -= {event.region for event in arm.compiles if event.region is not None}
    return {region.id for region in arm.regions if region.root is None} & called


def _root(alike: set[int], full: set[int], alone: set[int]) -> int | None:
    """The line of regions with the same target; else the only full line there is."""
    return _only(alike & full or alike or alone)


def _only(found: set[int]) -> int | None:
    return next(iter(found)) if len(found) == 1 else None
