"""Where to look: sites of findings that name none, the library's line beside, the source."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Sequence

from compile_ledger.facts.place import Place

from .choose import Arms
from .document import Finding, Ledger
from .judged import Judged
from .program_names import with_values_named


def with_sites(levels: Sequence[Judged], arms: Arms) -> list[Judged]:
    """The levels with a site for each finding of CORRECT and WORTH_IT that has none.

    A site that led a library to call ``torch.compile`` has the library's line beside it.
    """
    sited = [_sited(one, arms) if _needs(one) else one for one in levels]
    every = (region for arm in arms.values() for region in arm.regions)
    inside = {region.site: region.library for region in every if region.library}
    return [_beside(one, inside) for one in sited] if inside else sited


def with_sources(ledger: Ledger, source_of: Callable[[Place], str]) -> Ledger:
    """The ledger with the text of the line that each finding points at."""
    findings = tuple(
        dataclasses.replace(found, source=source_of(found.site)) if found.site else found
        for found in ledger.findings
    )
    return with_values_named(dataclasses.replace(ledger, findings=findings), source_of)


def _beside(one: Judged, inside: dict[Place | None, Place]) -> Judged:
    findings = tuple(
        found
        if found.library or found.site not in inside
        else dataclasses.replace(found, library=inside[found.site])
        for found in one.findings
    )
    return dataclasses.replace(one, findings=findings)


def _needs(one: Judged) -> bool:
    named = one.level.level in ("CORRECT", "WORTH_IT")
    return named and any(found.site is None for found in one.findings)


def _sited(one: Judged, arms: Arms) -> Judged:
    sites = _sites(arms)
    busiest = _busiest(arms) if one.level.level == "WORTH_IT" else None
    findings = tuple(_with_site(found, sites, busiest) for found in one.findings)
    return dataclasses.replace(one, findings=findings)


def _with_site(found: Finding, sites: dict[int, Place], busiest: int | None) -> Finding:
    """The region's site; of the whole run: the busiest region's, or the only one."""
    if found.site is not None:
        return found
    region = found.region if found.region in sites else busiest
    site = sites.get(region) if region is not None else None
    if site is None and len(set(sites.values())) == 1:
        site = next(iter(sites.values()))
    return dataclasses.replace(found, site=site)


def _sites(arms: Arms) -> dict[int, Place]:
    """Region to its ``torch.compile`` line; regions have one number in every arm."""
    every = (region for arm in reversed(list(arms.values())) for region in arm.regions)
    return {region.id: region.site for region in every if region.site}


def _busiest(arms: Arms) -> int | None:
    """The region with most calls in the arm that kept most of them."""
    kept = max((arm.calls for arm in arms.values()), key=len, default=())
    counted = Counter(call.region for call in kept)
    return counted.most_common(1)[0][0] if counted else None
