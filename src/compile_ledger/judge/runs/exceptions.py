"""Exceptions of eager and compiled arms, compared: findings of level RUNS."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from compile_ledger.facts.arm import Arm
from compile_ledger.facts.contract import Contract
from compile_ledger.facts.place import Place, Raised, within_package
from compile_ledger.judge.captured.break_words import worded
from compile_ledger.judge.choose import CAPTURE, COMPILED, Arms
from compile_ledger.judge.document import Evidence, Finding
from compile_ledger.judge.instruments import instrument
from compile_ledger.judge.stable.stances import FAIL, refused_calls
from compile_ledger.judge.words import listed, short_type

from .constraint import Violated, as_large, told_place, violated

_SHORT = 200


@dataclass(frozen=True, slots=True)
class Difference:
    """Eager and a compiled arm disagree on an exception."""

    kind: Literal["raises", "lost", "other type"]
    arm: str
    eager: Raised | None
    compiled: Raised | None
    region: int | None = None
    call: int | None = None
    """The call in which it happened; None: outside any call, or not known."""

    @property
    def key(self) -> str:
        """What makes it the same failure in another arm."""
        said = self.compiled or self.eager
        return short_type(said.type) if said else ""


def eager_raises(eager: Arm, arms: Arms) -> Finding:
    """Eager raised and the program did not handle it."""
    raised = eager.raised
    also = next((arms[n].raised for n in COMPILED if n in arms and arms[n].raised), None)
    sentence = f"an ordinary bug: eager raises too: {_said(raised)}{_where(raised)}"
    if also and raised and short_type(also.type) != short_type(raised.type):
        sentence += f" (compiled raises {short_type(also.type)} instead)"
    return Finding(
        id="eager-raises",
        slug="eager-raises",
        level="RUNS",
        severity="failure",
        sentence=sentence,
        site=raised.place if raised else None,
        library=raised.library if raised else None,
        evidence=(Evidence(instrument("exception", eager), _said(raised), arm=eager.name),),
    )


def differences(eager: Arm, arm: Arm) -> Iterator[Difference]:
    """Every difference of a compiled arm, call by call and then for the whole."""
    known = {(c.region, c.index): c.raised for c in eager.calls}
    refused = refused_calls(arm)
    uncaught = arm.raised if arm.status == "raised" else None
    for call in arm.calls:
        at = (call.region, call.index)
        if at not in known or (at in refused and call.raised):
            continue
        before = known[at]
        if call.raised and not before:
            yield Difference("raises", arm.name, None, call.raised, *at)
            uncaught = None if _same(uncaught, call.raised) else uncaught
        elif before and not call.raised:
            yield Difference("lost", arm.name, before, None, *at)
        elif before and call.raised and not _same(before, call.raised):
            yield Difference("other type", arm.name, before, call.raised, *at)
            uncaught = None if _same(uncaught, call.raised) else uncaught
    if uncaught and not (refused and FAIL in uncaught.message):
        yield Difference("raises", arm.name, None, uncaught)


LADDER = "ladder:"
"""How the arms are named that stop at one stage of compiling."""


def stage_raises(difference: Difference, arms: Arms, contract: Contract) -> Finding:
    """Compiled code raises where eager does not, or raises another type."""
    raised = difference.compiled
    stage = _stage(arms, contract)
    arm = arms[difference.arm]
    if difference.kind == "other type":
        head = f"eager raises {_type(difference.eager)}, compiled code raises {_type(raised)}"
    else:
        head = "compiled code raises where eager does not"
    broken = violated(raised)
    said = f"{_type(raised)}: {broken.words}" if broken else _said(raised)
    also = _of_that_size(broken, arm, difference) if broken else ""
    sentence = f"{head}{_at(difference)}, {stage}: {said}{also}{_where(raised)}"
    return Finding(
        id=f"compiled-raises:{difference.arm}:{difference.region}",
        slug="compiled-raises",
        level="RUNS",
        severity="failure",
        sentence=sentence,
        site=_site(raised, arm, difference.region),
        library=raised.library if raised and raised.place else None,
        subject=broken.subject if broken else "",
        axis=broken.axis if broken else None,
        expected=_expected(difference, broken),
        actual=broken.actual if broken else _type(raised),
        region=difference.region,
        first_call=difference.call,
        evidence=(Evidence(instrument("exception", arm), _said(raised), arm=arm.name),),
    )


def lost(difference: Difference) -> Finding:
    """Eager raises in this call and compiled code does not."""
    raised = difference.eager
    sentence = (
        f"an exception is lost: eager raises {_said(raised)}{_at(difference)}, "
        f"compiled code ({difference.arm} arm) returns{_where(raised)}"
    )
    return Finding(
        id=f"exception-lost:{difference.arm}:{difference.region}",
        slug="exception-lost",
        level="RUNS",
        severity="failure",
        sentence=sentence,
        site=raised.place if raised else None,
        library=raised.library if raised else None,
        expected=_type(raised),
        actual="no exception",
        region=difference.region,
        first_call=difference.call,
        evidence=(Evidence("exceptions per call (recorder)", _said(raised), arm=difference.arm),),
    )


def _expected(difference: Difference, broken: Violated | None) -> str:
    if broken:
        return broken.expected
    return _type(difference.eager) if difference.eager else "no exception"


def _of_that_size(broken: Violated, arm: Arm, difference: Difference) -> str:
    """Other dimensions of the call's inputs with the size that the marked one was fixed at."""
    at = (difference.region, difference.call)
    sizes = next((call.sizes for call in arm.calls if (call.region, call.index) == at), {})
    if broken.value is None:
        return ""
    equal = as_large(broken.subject, broken.axis, broken.value, sizes)
    verb = "is" if len(equal) == 1 else "are"
    said = listed(f"{name} axis {axis}" for name, axis in equal)
    return f" ({said} {verb} as large)" if equal else ""


def _site(raised: Raised | None, arm: Arm, region: int | None) -> Place | None:
    """The user's line of the traceback; else the region's ``torch.compile``."""
    place = _place(raised)
    if place:
        return place
    return next((r.site for r in arm.regions if r.id == region), None)


def _stage(arms: Arms, contract: Contract) -> str:
    """Which stage raises: Dynamo's, when capture alone raises too."""
    capture = arms.get(CAPTURE)
    if capture is None:
        return "in a stage that was not told apart"
    raised = capture.status == "raised" or any(c.raised for c in capture.calls)
    if raised:
        return "in the Dynamo capture stage (backend='eager' raises too)"
    rungs = [arm for name, arm in arms.items() if name.startswith(LADDER)]
    first = next((arm for arm in rungs if arm.raised), None)
    if first is not None:
        backend = first.name.removeprefix(LADDER)
        return f"in the AOTAutograd stage (backend={backend!r} raises too, 'eager' does not)"
    last = rungs[-1].name.removeprefix(LADDER) if rungs else "eager"
    return f"in the backend stage ({contract.own_backend}; backend={last!r} does not raise)"


def _same(one: Raised | None, other: Raised | None) -> bool:
    return bool(one and other and short_type(one.type) == short_type(other.type))


def _type(raised: Raised | None) -> str:
    return short_type(raised.type) if raised else "nothing"


def _said(raised: Raised | None) -> str:
    if raised is None:
        return "an exception"
    lines = raised.message.strip().split("\n")
    message = " ".join(lines[:2]) if lines[0].endswith("raised:") else worded("\n".join(lines))
    if len(message) > _SHORT:
        message = message[:_SHORT] + "..."
    return f"{short_type(raised.type)}: {message}" if message else short_type(raised.type)


def _where(raised: Raised | None) -> str:
    place = _place(raised)
    inside = raised.library if raised and raised.place else None
    library = f", in {within_package(inside)}" if inside else ""
    return f" at {place}{library}" if place else ""


def _place(raised: Raised | None) -> Place | None:
    return (raised.place if raised else None) or told_place(raised)


def _at(difference: Difference) -> str:
    return "" if difference.call is None else f" in call {difference.call}"
