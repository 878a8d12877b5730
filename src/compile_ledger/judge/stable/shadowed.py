"""The finding ``shadowed-entry``: a better graph that is never reached again.

The newest entry is asked first. When it also accepts what an earlier entry was made
for, and captures less, the earlier graph is dead although its guards would pass. It
is seen, not inferred: the same arguments ran one graph before and more graphs after.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from compile_ledger.facts.calls import SERVED, Call
from compile_ledger.judge.document import Evidence, Finding, FindingCost
from compile_ledger.judge.instruments import instrument
from compile_ledger.judge.view import View
from compile_ledger.judge.words import count, spans

Brought = tuple[tuple[tuple[str, object], ...], tuple[tuple[str, str], ...]]


@dataclass(frozen=True, slots=True)
class Shadowed:
    """Calls with the same arguments, the better graph first."""

    region: int
    better: Call
    worse: tuple[Call, ...]
    """Every later call with these arguments; none came back to the better entry."""


def shadowed(view: View) -> Iterator[Finding]:
    """One finding for each region in which a better entry is shadowed."""
    for region, calls in view.calls.items():
        found = next(_in_region(region, calls), None)
        if found is not None:
            yield _finding(view, found)


def _in_region(region: int, calls: tuple[Call, ...]) -> Iterator[Shadowed]:
    same: dict[Brought, list[Call]] = {}
    for call in calls:
        if call.disposition in SERVED and call.graphs and (call.sizes or call.constants):
            same.setdefault(_key(call), []).append(call)
    for alike in same.values():
        best = min(alike, key=lambda call: (call.graphs or 0, -call.index))
        later = tuple(call for call in alike if call.index > best.index)
        if later and all(_worse(call, best) for call in later):
            yield Shadowed(region, best, later)


def _key(call: Call) -> Brought:
    return tuple(sorted(call.sizes.items())), tuple(sorted(call.constants.items()))


def _worse(call: Call, best: Call) -> bool:
    """More graphs for the same arguments, by other entries."""
    apart = not set(best.runs) & set(call.runs)
    return apart and (call.graphs or 0) > (best.graphs or 0)


def _finding(view: View, found: Shadowed) -> Finding:
    best, worse = found.better, found.worse[-1]
    entries = ", ".join(_ids(best)), ", ".join(_ids(worse))
    at = spans([call.index for call in found.worse])
    sentence = (
        f"entry {entries[0]} is shadowed: with the same arguments, call {best.index} ran "
        f"{count(best.graphs or 0, 'graph')}, and {at} ran {count(worse.graphs or 0, 'graph')} "
        f"of newer entries ({entries[1]}), which are asked first"
    )
    return Finding(
        id=f"shadowed-entry:{found.region}",
        slug="shadowed-entry",
        level="STABLE",
        severity="failure",
        sentence=sentence,
        site=view.site(found.region),
        subject=view.target(found.region),
        expected=f"{count(best.graphs or 0, 'graph')} per call",
        actual=f"{count(worse.graphs or 0, 'graph')} per call",
        count=len(found.worse),
        cost=FindingCost(why="its cost was not measured"),
        evidence=(
            Evidence(
                instrument("entry runs", view.arm),
                f"call {best.index}: {entries[0]}; call {worse.index}: {entries[1]}",
                count=len(found.worse),
                arm=view.arm.name,
            ),
        ),
        region=found.region,
    )


def _ids(call: Call) -> list[str]:
    return [key.rpartition(":")[2] for key in call.runs]
