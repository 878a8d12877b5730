"""Level 1, RUNS: does the compiled program run where eager does."""

from __future__ import annotations

from compile_ledger.facts.arm import Arm
from compile_ledger.facts.contract import Contract
from compile_ledger.judge.choose import AGAIN, COMPILED, EAGER, RECORDED, Arms, own_arms
from compile_ledger.judge.document import Finding
from compile_ledger.judge.judged import Judged, failed, judged, not_measured
from compile_ledger.judge.stable.stances import ends_the_program
from compile_ledger.judge.suggest import audit_command

from .exceptions import Difference, differences, eager_raises, lost, stage_raises
from .toolchain import toolchain_missing


def judge_runs(arms: Arms, contract: Contract) -> Judged:
    """Judge RUNS: eager first, then each compiled arm against it."""
    command = audit_command(contract)
    eager = arms.get(EAGER)
    missing = toolchain_missing(arms, contract.own_backend)
    if eager is None:
        return _without_eager(arms, missing, command)
    if eager.status == "raised":
        return failed("RUNS", (eager_raises(eager, arms),))
    if not eager.ran:
        return not_measured("RUNS", f"the eager arm {_ended(eager)}", command)
    found = _failures(eager, arms, contract)
    if missing:
        found = (missing, *found)
    return failed("RUNS", found) if found else _no_failure(arms, contract, command)


def _without_eager(arms: Arms, missing: Finding | None, command: str) -> Judged:
    if missing:
        return failed("RUNS", (missing,))
    recorded = arms.get(RECORDED)
    if recorded is None:
        return not_measured("RUNS", "no arm ran eagerly", command)
    how = "ran to its end" if recorded.ran else _ended(recorded)
    why = f"the recorded process {how}; a recording has no eager arm to compare with"
    return not_measured("RUNS", why, command)


def _failures(eager: Arm, arms: Arms, contract: Contract) -> tuple[Finding, ...]:
    """One finding for each way in which a compiled arm differs from eager."""
    found: list[Finding] = []
    seen: set[tuple[str, str]] = set()
    for name in COMPILED:
        if name not in arms:
            continue
        refused = ends_the_program(arms[name])
        if refused and not any(one.slug == refused.slug for one in found):
            found.append(refused)
        for difference in differences(eager, arms[name]):
            key = (difference.kind, difference.key)
            if key not in seen:
                seen.add(key)
                found.append(_finding(difference, arms, contract))
    return tuple(found)


def _finding(difference: Difference, arms: Arms, contract: Contract) -> Finding:
    if difference.kind == "lost":
        return lost(difference)
    return stage_raises(difference, arms, contract)


def _no_failure(arms: Arms, contract: Contract, command: str) -> Judged:
    """No arm raised: say what that proves."""
    broken = [arms[n] for n in (AGAIN, *COMPILED) if n in arms and not arms[n].ran]
    own = [arm for arm in own_arms(arms, contract) if arm.ran]
    if own:
        names = ", ".join(arm.name for arm in own)
        also = "".join(f"; the {arm.name} arm {_ended(arm)}" for arm in broken)
        return judged("RUNS", "holds", f"no exception in eager or compiled arms ({names}){also}")
    if broken:
        return not_measured("RUNS", f"the {broken[0].name} arm {_ended(broken[0])}", command)
    if "capture" in arms and contract.depth == "quick":
        why = "the captured graphs run where eager does"
        return judged("RUNS", "holds", f"{why}; {generator_not_asked(contract)}")
    if "capture" in arms:
        why = f"it runs under backend='eager'; backend {contract.own_backend!r} was not run"
        return not_measured("RUNS", why, command)
    return not_measured("RUNS", "no compiled arm was run", command)


def generator_not_asked(contract: Contract) -> str:
    """What quick depth leaves out, for levels that it answers for the captured graphs."""
    return f"backend {contract.own_backend!r} was not asked for code (--quick)"


def _ended(arm: Arm) -> str:
    """``timed out: 60 s``: how an arm that did not finish ended."""
    words = {"timed_out": "timed out", "killed": "was killed", "raised": "raised"}
    how = words.get(arm.status, arm.status)
    return f"{how}: {arm.why}" if arm.why else how
