"""Exceptions of eager and compiled arms, compared: findings of level RUNS."""

from __future__ import annotations

from collections.abc import Sequence

from compile_ledger.facts.arm import Arm, MissedState
from compile_ledger.facts.contract import Contract
from compile_ledger.facts.place import Place, Raised, within_package
from compile_ledger.judge.captured.break_words import worded
from compile_ledger.judge.choose import COMPILED, PLAIN, Arms
from compile_ledger.judge.document import Evidence, Finding
from compile_ledger.judge.instruments import instrument
from compile_ledger.judge.patterns import DOUBLE_BACKWARD
from compile_ledger.judge.words import count, listed, short_type, spans

from .compared import Difference
from .constraint import Violated, as_large, told_place, violated
from .stages import stage_words

_SHORT = 200


def eager_raises(eager: Arm, arms: Arms) -> Finding:
    """Eager raised and the program did not handle it."""
    raised = eager.raised
    also = next((arms[n].raised for n in COMPILED if n in arms and arms[n].raised), None)
    sentence = f"{_ordinary(raised, arms)}: {said(raised)}{where(raised)}"
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
        evidence=(Evidence(instrument("exception", eager), said(raised), arm=eager.name),),
    )


def _ordinary(raised: Raised | None, arms: Arms) -> str:
    """An ordinary bug only where the program raises without ``torch.compile``, too."""
    plain = arms.get(PLAIN)
    if plain is None:
        return "eager raises too (it was not run without torch.compile)"
    if plain.raised is None:
        return f"eager raises too (without torch.compile it {plain.status}: {plain.why})"
    if needs_wrapper(plain.raised):
        why = "it asks for what only torch.compile makes"
        return f"eager raises too (without torch.compile it cannot run: {why})"
    other = _type(plain.raised)
    differs = "" if other == _type(raised) else f" ({other} without torch.compile)"
    return f"an ordinary bug: eager raises too{differs}"


def needs_wrapper(raised: Raised | None) -> bool:
    """Whether an exception says no more than that the program looks for a compiled object."""
    return bool(raised and raised.type == "AttributeError" and "_orig_mod" in raised.message)


def wrapper_visible(eager: Arm, plain: Arm | None) -> Finding | None:
    """The program fails under ``torch.compile`` even eagerly, and runs without it."""
    if plain is None or plain.raised is not None or not plain.ran:
        return None
    raised, code, missed = eager.raised, eager.exit_code or 0, _missed(eager, plain)
    if eager.status == "raised" and raised is not None:
        head = f"the program raises only with torch.compile: {said(raised)}{where(raised)}"
    elif eager.ran and code and code != (plain.exit_code or 0):
        other = plain.exit_code or 0
        head = f"the program exits with status {code} only with torch.compile, else with {other}"
    elif eager.ran and missed is not None:
        head = (
            f"load_state_dict loads nothing for {count(missed.keys, 'key')}, without an exception "
            f"and only with torch.compile: the state has {missed.given!r}, the module "
            f"{missed.wanted!r}"
        )
    else:
        return None
    keys = raised is not None and "_orig_mod" in raised.message
    ended = "every key loaded" if missed and raised is None else "no exception"
    why = "; the compiled module's names begin with _orig_mod." if keys else ""
    return Finding(
        id="wrapper-visible",
        slug="wrapper-visible",
        level="RUNS",
        severity="failure",
        sentence=f"{head}{why}",
        site=_place(raised)
        or (missed and missed.place)
        or next((r.site for r in eager.regions if r.site), None),
        library=raised.library if raised else None,
        expected="as without torch.compile",
        actual=_type(raised) if raised else f"exit status {code}" if code else "keys not loaded",
        evidence=(
            Evidence(instrument("exception", eager), head, arm=eager.name),
            Evidence(instrument("torch.compile as the identity", plain), ended, arm=plain.name),
        ),
    )


def _missed(eager: Arm, plain: Arm) -> MissedState | None:
    """State that is not loaded by name with ``torch.compile``, and is without."""
    also = {one.place for one in plain.missed_states}
    return next((one for one in eager.missed_states if one.place not in also), None)


def cause_of(difference: Difference) -> str:
    """What makes differences of one arm the same cause: what was raised, in words."""
    return said(difference.compiled or difference.eager)


def stage_raises(
    same: Sequence[Difference], arms: Arms, contract: Contract, number: int = 0
) -> Finding:
    """Compiled code raises where eager does not, or another type: all calls of one cause."""
    difference = same[0]
    raised = difference.compiled
    stage = stage_words(arms, contract)
    arm = arms[difference.arm]
    if difference.kind == "other type":
        head = f"eager raises {_type(difference.eager)}, compiled code raises {_type(raised)}"
    else:
        head = "compiled code raises where eager does not"
    broken = violated(raised)
    text = f"{_type(raised)}: {broken.words}" if broken else said(raised)
    also = _of_that_size(broken, arm, difference) if broken else ""
    twice = double_backward(raised)
    handled = "; the program handles the exception" if arm.ran and len(same) > 1 else ""
    sentence = f"{head}{_in_calls(same, arm)}, {stage}: {twice}{text}{also}{where(raised)}{handled}"
    return Finding(
        id=f"compiled-raises:{difference.arm}:{difference.region}{f':{number}' * bool(number)}",
        slug="compiled-raises",
        level="RUNS",
        severity="failure",
        sentence=sentence,
        site=_site(raised, arm, difference.region),
        count=len(same),
        library=raised.library if raised and raised.place else None,
        subject=broken.subject if broken else "",
        axis=broken.axis if broken else None,
        expected=_expected(difference, broken),
        actual=broken.actual if broken else _type(raised),
        region=difference.region,
        first_call=difference.call,
        evidence=(Evidence(instrument("exception", arm), said(raised), arm=arm.name),),
    )


def lost(difference: Difference) -> Finding:
    """Eager raises in this call and compiled code does not."""
    raised = difference.eager
    sentence = (
        f"an exception is lost: eager raises {said(raised)}{_at(difference)}, "
        f"compiled code ({difference.arm} arm) returns{where(raised)}"
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
        evidence=(Evidence("exceptions per call (recorder)", said(raised), arm=difference.arm),),
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


def double_backward(raised: Raised | None) -> str:
    """Where the program asks for the gradient of a gradient, if that is what raises."""
    if raised is None or "double backward" not in raised.message:
        return ""
    lines = listed((str(place) for place in raised.create_graph), 3)
    at = f" (create_graph=True at {lines})" if lines else ""
    return f"{DOUBLE_BACKWARD}{at}: "


def _in_calls(same: Sequence[Difference], arm: Arm) -> str:
    """`` in call 2``; `` in 30 of 60 calls (1, 3, 5, ...)``."""
    if len(same) == 1:
        return _at(same[0])
    region = same[0].region
    every = [call.index for call in arm.calls if call.region == region]
    calls = [found.call for found in same if found.call is not None]
    return f" in {len(calls)} of {count(len(every), 'call')} ({spans(calls)})"


def _site(raised: Raised | None, arm: Arm, region: int | None) -> Place | None:
    """The user's line of the traceback; else the region's ``torch.compile``."""
    place = next(iter(raised.create_graph), None) if raised else None
    place = place or _place(raised)
    if place:
        return place
    return next((r.site for r in arm.regions if r.id == region), None)


def _type(raised: Raised | None) -> str:
    return short_type(raised.type) if raised else "nothing"


def said(raised: Raised | None) -> str:
    """What was raised: type and message, short."""
    if raised is None:
        return "an exception"
    lines = raised.message.strip().split("\n")
    message = " ".join(lines[:2]) if lines[0].endswith("raised:") else worded("\n".join(lines))
    if len(message) > _SHORT:
        message = message[:_SHORT] + "..."
    return f"{short_type(raised.type)}: {message}" if message else short_type(raised.type)


def where(raised: Raised | None) -> str:
    """The user's line, and the library's that it led to."""
    place = _place(raised)
    inside = raised.library if raised and raised.place else None
    library = f", in {within_package(inside)}" if inside else ""
    return f" at {place}{library}" if place else ""


def _place(raised: Raised | None) -> Place | None:
    return (raised.place if raised else None) or told_place(raised)


def _at(difference: Difference) -> str:
    return "" if difference.call is None else f" in call {difference.call}"
