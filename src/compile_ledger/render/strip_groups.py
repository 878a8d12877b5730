"""Which calls share a strip, in what order, and what the strip is called."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from compile_ledger.judge.document import CallRow, RegionRow

from .words import place

FEW = 8
"""Calls of a region at most, for it to be shown together with others like it."""
WIDEST = 44
"""Characters of a place in a label."""

Grouped = tuple[tuple[int, ...], list[CallRow], str]
"""Regions, their calls in order, and a label."""


def grouped(calls: Iterable[CallRow], known: Mapping[int, RegionRow]) -> Iterator[Grouped]:
    """The calls that have dispositions, by region; regions that are alike in one group."""
    rows = [call for call in calls if call.disposition is not None]
    groups = _groups(Counter(call.region for call in rows), known)
    names = Counter(_name(regions, known) for regions in groups)
    for regions in groups:
        mine = [call for call in rows if call.region in regions]
        name = _name(regions, known)
        twice = f", region {regions[0]}" if names[name] > 1 else ""
        yield regions, _in_order(mine, regions), f"{name}{twice}"


def _groups(calls: Mapping[int, int], known: Mapping[int, RegionRow]) -> list[tuple[int, ...]]:
    """Regions with few calls, one site and one target together; every other alone."""
    found: dict[object, list[int]] = {}
    for region in sorted(calls):
        row = known.get(region)
        alike = row is not None and row.site is not None and calls[region] <= FEW
        key = (str(row.site), row.target) if row and alike else region
        found.setdefault(key, []).append(region)
    return [tuple(regions) for regions in found.values()]


def _in_order(calls: list[CallRow], regions: tuple[int, ...]) -> list[CallRow]:
    """One region's calls by its own count; those of several as they began, counted anew."""
    if len(regions) == 1:
        return sorted(calls, key=lambda call: call.index)
    return [replace(call, index=position) for position, call in enumerate(calls)]


def _name(regions: tuple[int, ...], known: Mapping[int, RegionRow]) -> str:
    row = known.get(regions[0])
    if row is None or not row.target:
        return f"region {regions[0]}"
    at = f" at {place(row.site, WIDEST)}" if row.site else ""
    several = f"{len(regions)} regions of " if len(regions) > 1 else ""
    return f"{several}{row.target}{at}"
