"""Level 4, STABLE: do the graphs that exist keep serving the calls."""

from __future__ import annotations

from compile_ledger.facts.arm import Arm
from compile_ledger.facts.contract import Contract
from compile_ledger.judge.choose import (
    CAPTURE,
    CAPTURE_ONLY,
    CORRECT,
    RECORDED,
    Arms,
    deciding_stability,
    whole_stream,
)
from compile_ledger.judge.document import Finding
from compile_ledger.judge.judged import Judged, judged, not_measured
from compile_ledger.judge.suggest import audit_command
from compile_ledger.judge.view import View, look
from compile_ledger.judge.words import count

from .failures import failures
from .notes import notes, settled_words
from .recompile_findings import cause_words
from .recurrence import Late, ending
from .stream import Stream, nothing_captured, streams


def judge_stable(arms: Arms, contract: Contract) -> Judged:
    """Judge STABLE in the best compiled arm that saw the whole stream."""
    command = audit_command(contract, full=contract.depth != "quick")
    arm = deciding_stability(arms)
    if arm is None:
        return not_measured("STABLE", "no compiled arm saw a call", command)
    found = _unless_compiled_anew(_in_arm(arm, contract, command), arm, arms.get(CORRECT))
    other = arms.get(CAPTURE)
    if other is None or other is arm:
        return found
    return _beside(found, arm, _in_arm(other, contract, command))


def _unless_compiled_anew(found: Judged, arm: Arm, correct: Arm | None) -> Judged:
    """Say so when the workload's own backend recompiled where the cheap one had settled."""
    if correct is None or correct is arm or found.level.status != "not_measured":
        return found
    calls = len(correct.calls)
    more = sum(call.disposition == "recompiled" for call in correct.calls)
    here = sum(call.disposition == "recompiled" for call in arm.calls[:calls])
    if more <= here:
        return found
    why = (
        f"{found.level.why}; and it did: {count(more, 'recompile')} in the {count(calls, 'call')}"
        f" of the {correct.name} arm, {here} in them under backend='eager'"
    )
    ended = ("settled", "recompiled")
    kept = tuple(finding for finding in found.findings if finding.slug not in ended)
    return not_measured("STABLE", why, found.command, kept)


def _beside(found: Judged, arm: Arm, capture: Judged) -> Judged:
    """Say so when the capture arm shows another result."""
    if found.fails == capture.fails:
        return found
    level = found.level
    said = "fails" if capture.fails else "does not fail"
    why = f"{level.why} ({arm.name} arm; under backend='eager' it {said}: {capture.level.why})"
    return judged("STABLE", level.status, why, found.findings, found.command)


def _in_arm(arm: Arm, contract: Contract, command: str) -> Judged:
    view = look(arm)
    found = failures(view)
    seen = streams(view)
    said = notes(view, seen, failed=bool(found))
    if found:
        return judged("STABLE", "fails", found[0].sentence, found + said)
    if seen and nothing_captured(view):
        return not_measured("STABLE", "nothing was captured", findings=said)
    why_not = _unknown(view, seen) or _lower_bound(view, contract)
    if why_not:
        return not_measured("STABLE", why_not, command, said)
    return judged("STABLE", "holds", _holds(seen, said), said)


def _unknown(view: View, seen: tuple[Stream, ...]) -> str:
    """Why the arm cannot tell whether compiling has ended; empty when it can."""
    arm = view.arm
    if not seen:
        return f"no region was called in the {arm.name} arm"
    if arm.name != RECORDED and not whole_stream(arm):
        return f"the {arm.name} arm ended early ({arm.why or arm.status})"
    long = [stream for stream in seen if not stream.too_short]
    if not long:
        most = max(stream.length for stream in seen)
        return f"the stream is too short to tell: {count(most, 'call')}"
    late = [(stream, one) for stream in long for one in ending(stream).late]
    return _too_late(view, *late[-1]) if late else ""


def _too_late(view: View, stream: Stream, late: Late) -> str:
    """The rule that keeps it open: a first recompile in the tail, whose values can go on."""
    on = ""
    if late.cause is not None:
        on = f" on {cause_words(view, late.cause, view.region_of(late.event.compile))}"
    return (
        f"recompiled at call {late.event.at} of {stream.length}{on}, for the first time and among "
        f"the last {stream.tail} calls: too late to tell whether it goes on"
    )


def _lower_bound(view: View, contract: Contract) -> str:
    """Why stability under backend='eager' is no proof for the workload's own backend."""
    if view.arm.name != CAPTURE or contract.own_backend in CAPTURE_ONLY:
        return ""
    if not any(event.symbols for event in view.compiles):
        return ""
    return (
        "settled under backend='eager', a lower bound when a dimension or float is symbolic: "
        f"backend {contract.own_backend!r} can add guards"
    )


def _holds(seen: tuple[Stream, ...], said: tuple[Finding, ...]) -> str:
    short = sum(stream.too_short for stream in seen)
    tail = f"; {count(short, 'region')} called too seldom to tell" if short else ""
    settled = next((note.sentence for note in said if note.slug == "settled"), "")
    return f"{settled or settled_words(seen)}{tail}"
