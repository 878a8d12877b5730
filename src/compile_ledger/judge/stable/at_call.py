"""Where a limit was hit: the call, and whose call where several regions share the line."""

from __future__ import annotations

from compile_ledger.facts.compile import Compile
from compile_ledger.judge.view import View
from compile_ledger.judge.words import ordinal


def at_call(view: View, hit: Compile) -> str:
    """`` at call 8``; `` in the first call of the 9th region`` on a shared line; or nothing.

    A region counts its own calls, so a number alone would say nothing of the line's age.
    """
    regions = view.regions_on(hit.code_object)
    region = view.region_of(hit)
    if hit.call is None:
        return ""
    if len(regions) < 2 or region not in regions:  # noqa: PLR2004  nothing is shared
        return f" at call {hit.call}"
    call = "the first call" if hit.call == 0 else f"call {hit.call}"
    return f" in {call} of the {ordinal(regions.index(region) + 1)} region"


def call_number(view: View, event: Compile) -> int | None:
    """The call of a compile among all calls of the regions that share its line, from 0."""
    return among_all(view, event.code_object, view.region_of(event), event.call)


def among_all(view: View, code: int | None, region: int | None, index: int | None) -> int | None:
    """A region's call among all calls of the regions that share a line, from 0."""
    regions = view.regions_on(code) if code is not None else ()
    if len(regions) < 2:  # noqa: PLR2004  nothing is shared
        return index
    every = sorted(
        (call.at_ns, call.region, call.index)
        for shared in regions
        for call in view.calls.get(shared, ())
    )
    found = (n for n, (_, *at) in enumerate(every) if at == [region, index])
    return next(found, None)
