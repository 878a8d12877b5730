"""Compiles that raised in a recorded process: eager, which does not compile, cannot raise them."""

from __future__ import annotations

from collections import defaultdict

from compile_ledger.facts.arm import Arm
from compile_ledger.facts.compile import Compile
from compile_ledger.judge.document import Evidence, Finding, FindingCost
from compile_ledger.judge.instruments import instrument
from compile_ledger.judge.view import View, look
from compile_ledger.judge.words import count, short_type, spans

from .exceptions import said, where

_COMPILER = ("torch._dynamo.exc.", "torch._inductor.exc.", "torch._functorch.")
_EAGER_TOO = "Observed exception"
"""How Dynamo words an exception that the traced code raises: eager raises that one, too."""


def compile_failures(arm: Arm) -> tuple[Finding, ...]:
    """One finding for each thing that compiling raised, with the calls that it reached."""
    view = look(arm)
    causes: defaultdict[tuple[int | None, str], list[Compile]] = defaultdict(list)
    for event in view.compiles:
        if _is_the_compilers(event):
            causes[view.region_of(event), said(event.raised)].append(event)
    found = [_finding(view, region, events) for (region, _), events in causes.items()]
    return tuple(sorted(found, key=lambda one: -one.count))


def _is_the_compilers(event: Compile) -> bool:
    raised = event.raised
    if event.outcome != "raised" or raised is None or event.stance or event.limit:
        return False
    return raised.type.startswith(_COMPILER) and _EAGER_TOO not in raised.message


def _finding(view: View, region: int | None, events: list[Compile]) -> Finding:
    raised = events[0].raised
    calls = sorted({event.call for event in events if event.call is not None})
    number = len(calls) or len(events)
    of = f"{number} of {count(view.length(region), 'call')}" if region is not None else str(number)
    which = f" ({spans(calls)})" if calls else ""
    handled = "; the program handles the exception" if view.arm.ran else ""
    text = f"{said(raised)}{where(raised)}"
    return Finding(
        id=f"compiled-raises:{view.arm.name}:{region}:{events[0].started_ns}",
        slug="compiled-raises",
        level="RUNS",
        severity="failure",
        sentence=f"compiling raises in {of} of {view.target(region)}{which}: {text}{handled}",
        site=(raised.place if raised else None) or view.site(region),
        library=raised.library if raised and raised.place else None,
        expected="no exception",
        actual=short_type(raised.type) if raised else "an exception",
        count=number,
        cost=FindingCost(calls=number),
        evidence=(Evidence(instrument("exception", view.arm), text, arm=view.arm.name),),
        region=region,
        first_call=min(calls, default=None),
    )
