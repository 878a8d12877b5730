"""The note ``compile-in-loop``: one line of the program calls ``torch.compile`` again and again.

The code object and its entries are shared, so that little is compiled twice; but each
call makes a new wrapper, and a new backend object at that line compiles anew.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from compile_ledger.facts.place import Place
from compile_ledger.facts.region import Region
from compile_ledger.judge.document import Evidence, Finding
from compile_ledger.judge.instruments import instrument
from compile_ledger.judge.view import View
from compile_ledger.judge.words import count

FEW = 4
"""Regions of one line and one target from which on it is worth saying."""


def compiled_in_loop(view: View) -> Iterator[Finding]:
    """One note for each line that made several regions of one target."""
    made: defaultdict[tuple[Place, str], list[Region]] = defaultdict(list)
    for region in view.regions.values():
        if region.site is not None:
            made[region.site, region.target].append(region)
    for (site, target), regions in made.items():
        if len(regions) >= FEW:
            yield _note(view, site, target, regions)


def _note(view: View, site: Place, target: str, regions: list[Region]) -> Finding:
    calls = sum(view.length(region.id) for region in regions)
    mine = {region.id for region in regions}
    compiles = sum(c.kept and view.region_of(c) in mine for c in view.compiles)
    sentence = (
        f"torch.compile({target}) was called {len(regions)} times at one line: "
        f"{count(calls, 'call')}, {count(compiles, 'compile')}; {_would_serve(regions)}"
    )
    return Finding(
        id=f"compile-in-loop:{regions[0].id}",
        slug="compile-in-loop",
        level="STABLE",
        severity="note",
        sentence=sentence,
        site=site,
        subject=target,
        count=len(regions),
        evidence=(Evidence(instrument("regions", view.arm), sentence, arm=view.arm.name),),
        region=regions[0].id,
    )


def _would_serve(regions: list[Region]) -> str:
    """Whether one region would do: closures and modules of one name can hold other values."""
    places = {region.target_place for region in regions}
    named = all(r.kind == "function" and "<" not in r.target for r in regions)
    if named and len(places) == 1:
        return "one region would serve them"
    return "one region would serve those that are the same object (not told apart here)"
