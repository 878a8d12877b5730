"""Level 2, CORRECT: do compiled calls give what eager gives."""

from __future__ import annotations

from collections.abc import Iterable

from compile_ledger.facts.agreement import Agreement
from compile_ledger.facts.contract import Contract
from compile_ledger.judge.choose import EAGER, RECORDED, Arms, nothing_captured
from compile_ledger.judge.document import Finding
from compile_ledger.judge.judged import Judged, judged, not_measured
from compile_ledger.judge.runs.level import generator_not_asked
from compile_ledger.judge.suggest import audit_command
from compile_ledger.judge.words import count, listed

from .agreements import Compared, compared_arms, unstable_leaves
from .disagreements import disagreement, nondeterministic, tolerance


def judge_correct(arms: Arms, contract: Contract) -> Judged:
    """Judge CORRECT from the agreements of the arms that compared outputs."""
    sides = compared_arms(arms, contract)
    unstable = unstable_leaves(arms)
    wrong = _wrong(sides, unstable)
    findings = tuple(disagreement(leaves, side) for side, leaves in wrong)
    notes = _notes(sides, unstable, contract)
    if findings:
        return judged("CORRECT", "fails", findings[0].sentence, findings + notes)
    own = next((side for side in sides if side.own and side.decided), None)
    shaky = _shaky(sides, unstable)
    if shaky:
        leaves = listed(sorted({a.leaf for a in shaky}), 3)
        why = f"eager does not agree with itself on {leaves}: the difference cannot be judged"
        return judged("CORRECT", "not_resolved", why, notes)
    raised = max((side.raised for side in sides), default=0)
    if raised:
        differ = "eager and compiled code differ in what is raised"
        why = f"{count(raised, 'call')} could not be compared: {differ}"
        return not_measured("CORRECT", why, findings=notes)
    if own is None:
        return _without_own_backend(arms, sides, contract, notes)
    if own.unseen_gradients and not own.gradients:
        reasons = listed(sorted({a.why for a in own.unseen_gradients}), 2)
        why = f"{_agrees(own)}; the program's gradients could not be compared: {reasons}"
        return not_measured("CORRECT", why, findings=notes)
    return judged("CORRECT", "holds", _agrees(own), notes)


def _without_own_backend(
    arms: Arms, sides: tuple[Compared, ...], contract: Contract, notes: tuple[Finding, ...]
) -> Judged:
    """Quick depth answers for the captured graphs; any other has no evidence."""
    captured = next((side for side in sides if not side.own and side.decided), None)
    if nothing_captured(arms):
        command = audit_command(contract)
        return not_measured("CORRECT", "no graph ran in the capture arm", command, notes)
    if captured and contract.depth == "quick" and _complete(captured):
        why = f"the captured graphs: {_agrees(captured)}; {generator_not_asked(contract)}"
        return judged("CORRECT", "holds", why, notes)
    why = _why_not(arms, sides, contract)
    # Where its own backend was asked in vain, the same audit again would tell no more.
    asked = any(side.own for side in sides)
    return not_measured("CORRECT", why, "" if asked else audit_command(contract), notes)


def _complete(side: Compared) -> bool:
    """Whether gradients were compared where a program makes them."""
    return bool(side.gradients or not side.unseen_gradients)


def _wrong(
    sides: tuple[Compared, ...], unstable: frozenset[tuple[int | None, str]]
) -> list[tuple[Compared, tuple[Agreement, ...]]]:
    """Per arm, the leaves that differ though eager agrees with itself on them."""
    found = []
    for side in sides:
        leaves = tuple(a for a in side.differing if (a.region, a.leaf) not in unstable)
        if leaves:
            found.append((side, leaves))
    return found


def _shaky(
    sides: tuple[Compared, ...], unstable: frozenset[tuple[int | None, str]]
) -> tuple[Agreement, ...]:
    return tuple(a for side in sides for a in side.differing if (a.region, a.leaf) in unstable)


def _notes(
    sides: tuple[Compared, ...], unstable: Iterable[tuple[int | None, str]], contract: Contract
) -> tuple[Finding, ...]:
    notes = [nondeterministic(leaf, region) for region, leaf in sorted(unstable, key=str)]
    said = (tolerance(side, contract) for side in sides)
    return (*notes, *(note for note in said if note is not None))


def _why_not(arms: Arms, sides: tuple[Compared, ...], contract: Contract) -> str:
    capture = next((side for side in sides if not side.own and side.decided), None)
    if capture:
        backend = contract.own_backend
        return f"agrees under backend='eager'; run without --quick to compare backend {backend!r}"
    reasons = [a.why for side in sides for a in side.every if a.status == "not_compared" and a.why]
    if reasons:
        return f"no output could be compared: {listed(sorted(set(reasons)), 2)}"
    if RECORDED in arms and EAGER not in arms:
        return "a recording has no eager arm to compare with"
    return "no compiled arm compared its outputs"


def _agrees(side: Compared) -> str:
    leaves = count(len(side.outputs), "output")
    number = sum(a.leaves for a in side.gradients)
    if number:
        leaves += f" and {count(number, 'gradient')}"
    worst = max((a.max_abs for a in side.outputs if a.max_abs is not None), default=None)
    tail = f", max |difference| {worst:.1e}" if worst is not None else ""
    of = f" of {count(side.calls, 'call')}" if side.calls else ""
    return f"{leaves}{of} agree with eager ({side.name} arm){tail}"
