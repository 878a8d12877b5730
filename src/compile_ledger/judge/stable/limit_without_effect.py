"""The finding ``limit-without-effect``: a limit raised where it does not count.

The setting is per thread, and it is read when a limit is hit: a code object that
has hit it is not compiled again, whatever the setting says later.
"""

from __future__ import annotations

from collections.abc import Iterator

from compile_ledger.facts.compile import Compile
from compile_ledger.judge.document import Evidence, Finding
from compile_ledger.judge.instruments import instrument
from compile_ledger.judge.view import View


def raised_in_vain(view: View, hit: Compile) -> Iterator[Finding]:
    """Say so when the limit is higher in another thread, or was raised after the hit."""
    met = hit.limit_value
    if met is None or hit.limit not in ("recompile_limit", "cache_size_limit"):
        return
    region = view.regions.get(hit.region) if hit.region is not None else None
    made = region.recompile_limit if region else None
    counters = view.arm.counters
    end = counters.recompile_limit if counters else None
    if made is not None and made > met:
        yield _finding(
            view,
            hit,
            f"{hit.limit} is {made} in the thread that called torch.compile, and {met} in the "
            f"thread that made the call: the setting is per thread",
            made,
        )
    elif end is not None and end > met:
        yield _finding(
            view,
            hit,
            f"{hit.limit} is {end} at the end, and was {met} when it was hit: raising it "
            f"afterwards does not compile that code again",
            end,
        )


def _finding(view: View, hit: Compile, sentence: str, elsewhere: int) -> Finding:
    return Finding(
        id=f"limit-without-effect:{hit.code_object}",
        slug="limit-without-effect",
        level="STABLE",
        severity="note",
        sentence=sentence,
        site=view.site(hit.region, hit.code_object),
        subject=hit.limit,
        expected=str(elsewhere),
        actual=str(hit.limit_value),
        evidence=(Evidence(instrument("settings", view.arm), sentence, arm=view.arm.name),),
        region=hit.region,
        code_object=hit.code_object,
    )
