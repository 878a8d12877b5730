"""Calls of a region's own code that go round the region, as the eager arm counted them."""

from __future__ import annotations

from compile_ledger.facts.arm import Arm
from compile_ledger.facts.outside import Caller, OwnCalls
from compile_ledger.facts.place import within_package
from compile_ledger.judge.choose import EAGER, Arms
from compile_ledger.judge.document import Evidence, ExperimentRow, Finding, FindingCost, Outcome
from compile_ledger.judge.experiments import reading
from compile_ledger.judge.instruments import instrument
from compile_ledger.judge.view import View, look
from compile_ledger.judge.words import count

MOST_OUTSIDE = 0.75
"""From this share on, of the calls and of their time, calls outside fail the level.

An evaluation beside training, or eager calls that compiled ones are compared with, stay below.
"""
SLUG = "region-bypassed"


def bypasses(arms: Arms, view: View) -> list[Finding]:
    """One finding for each compiled object that was called outside its regions."""
    eager = arms.get(EAGER)
    nothing = not any(view.length(region) for region in view.regions)
    found = (_finding(arms, view, own, nothing) for own in (eager.own_calls if eager else ()))
    return [finding for finding in found if finding]


def _finding(arms: Arms, view: View, own: OwnCalls, nothing: bool) -> Finding | None:  # noqa: FBT001
    region = own.regions[0] if own.regions else None
    if own.why or region is None or _replaced(view, own):
        return None
    if own.outside:
        said, calls = _round(view, own, region), own.outside
    elif nothing and own.others:
        said, calls = _another(view, own, region), own.others
    else:
        return None
    caller = own.callers[0] if own.callers else None
    return Finding(
        id=f"{SLUG}:{region}",
        slug=SLUG,
        level="CAPTURED",
        severity="failure" if _mostly(own) else "note",
        sentence=said,
        site=view.site(region) or (caller.place if caller else None),
        subject=view.target(region),
        expected="calls by way of the region",
        actual=f"{own.outside or own.others} outside",
        count=calls,
        cost=FindingCost(calls=calls),
        evidence=tuple(_evidence(arms, one) for one in own.callers),
        region=region,
    )


def share(own: OwnCalls) -> float:
    """The share of the code's time that its calls outside took."""
    every = own.inside_ns + own.outside_ns
    return own.outside_ns / every if every else 0.0


def _mostly(own: OwnCalls) -> bool:
    every = own.inside + own.outside
    often = own.outside >= MOST_OUTSIDE * every
    return not own.inside or (often and share(own) >= MOST_OUTSIDE)


def _round(view: View, own: OwnCalls, region: int) -> str:
    every = own.inside + own.outside
    noun = "forward" if _is_module(view, region) else "call"
    time = f" ({share(own):.0%} of their eager time)" if own.inside else ""
    first = next(iter(own.callers), None)
    rest = f" and {count(len(own.callers) - 1, 'other line')}" if len(own.callers) > 1 else ""
    itself = f"; {view.target(region)} itself was called, never what torch.compile returned"
    never = "" if own.inside else itself
    grad = ", without gradients" if own.inside and not own.trained else ""
    return (
        f"{own.outside:,} of {count(every, noun)} of {view.target(region)}{time} ran outside "
        f"torch.compile{grad}{_from(first)}{rest}{never}"
    )


def _another(view: View, own: OwnCalls, region: int) -> str:
    first = next(iter(own.callers), None)
    return (
        "nothing called what torch.compile returned: "
        f"{count(own.others, 'call')} went to another {view.target(region)}{_from(first)}"
    )


def _from(caller: Caller | None) -> str:
    """``, from generate, app.py:22``; and the library's function that this line led to."""
    if caller is None or caller.place is None:
        return ""
    name, library = caller.place.function, caller.library
    named = "" if name.startswith("<") else f"{name}, "
    inside = f" ({library.function}, {within_package(library)})" if library else ""
    return f", from {named}{caller.place}{inside}"


def _is_module(view: View, region: int) -> bool:
    known = view.regions.get(region)
    return known is not None and known.kind in ("module", "module.compile")


def _evidence(arms: Arms, caller: Caller) -> Evidence:
    text = f"{count(caller.calls, 'call')}{_from(caller)}"
    tool = instrument("calls outside regions", arms.get(EAGER), "audit")
    return Evidence(tool, text, caller.calls, EAGER)


def outside_cell(arms: Arms, view: View) -> tuple[str | None, str]:
    """How many calls of the compiled code go round the regions; None and why."""
    eager = arms.get(EAGER)
    if eager is None:
        return None, "a recording does not see calls outside regions: compile-ledger audit does"
    known = [own for own in eager.own_calls if not own.why and not _replaced(view, own)]
    if not known:
        why = next((own.why for own in eager.own_calls if own.why), "")
        return None, why or "calls of what was compiled were not counted in the eager arm"
    calls = sum(own.outside for own in known)
    every = sum(own.inside for own in known) + calls
    spent = sum(own.outside_ns for own in known)
    time = sum(own.inside_ns for own in known) + spent
    part = f" ({spent / time:.0%} of their eager time)" if calls and time else ""
    return f"{calls:,} of {count(every, 'call')}{part}", ""


def _replaced(view: View, own: OwnCalls) -> bool:
    """Whether the regions ran something else than the code that was counted."""
    return not own.inside and any(view.length(region) for region in own.regions)


def judge_in_place(  # noqa: PLR0913, PLR0917  an experiment is these six things
    before: Arm, after: Arm, name: str, change: str, tests: str, region: int
) -> ExperimentRow:
    """Whether calls that went round the region go through it with the change."""
    first = reading(before)
    if not after.ran:
        why = f"not resolved: the experiment's arm {after.status}: {after.why or 'no reason'}"
        return ExperimentRow(name, change, tests, first, None, "not_resolved", why, "CAPTURED")
    second = reading(after)
    had, has = look(before).length(region), look(after).length(region)
    works = has > had and bool(second.graphs_high)
    outcome: Outcome = "holds" if works else "not_resolved"
    shown = "diagnosis holds" if works else "not enough"
    empty = ", and no graph ran" if has > had and not works else ""
    sentence = (
        f"{shown}: with {change}, {count(has, 'call')} went through the region "
        f"(before: {had}){empty}"
    )
    return ExperimentRow(name, change, tests, first, second, outcome, sentence, "CAPTURED")
