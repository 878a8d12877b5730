"""Level 1, RUNS: does the compiled program run where eager does."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from compile_ledger.facts.arm import Arm
from compile_ledger.facts.contract import Contract
from compile_ledger.judge.choose import (
    AGAIN,
    COMPILED,
    EAGER,
    PLAIN,
    RECORDED,
    Arms,
    nothing_captured,
    own_arms,
)
from compile_ledger.judge.document import Finding
from compile_ledger.judge.judged import Judged, failed, judged, not_measured
from compile_ledger.judge.stable.stances import ends_the_program
from compile_ledger.judge.suggest import audit_command

from .compared import Difference, differences
from .exceptions import cause_of, eager_raises, lost, stage_raises, wrapper_visible
from .in_recording import compile_failures
from .toolchain import toolchain_missing

_CAUSES = 8
"""Causes of one arm that are told apart."""


def judge_runs(arms: Arms, contract: Contract) -> Judged:
    """Judge RUNS: eager first, then each compiled arm against it."""
    command = audit_command(contract)
    eager = arms.get(EAGER)
    missing = toolchain_missing(arms, contract.own_backend)
    if eager is None:
        return _without_eager(arms, missing, command)
    only = wrapper_visible(eager, arms.get(PLAIN))
    if only:
        return failed("RUNS", (only,))
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
    raising = compile_failures(recorded)
    if raising:
        return failed("RUNS", raising)
    how = "ran to its end" if recorded.ran else _ended(recorded)
    why = f"the recorded process {how}; a recording has no eager arm to compare with"
    return not_measured("RUNS", why, command)


def _failures(eager: Arm, arms: Arms, contract: Contract) -> tuple[Finding, ...]:
    """One finding for each way in which a compiled arm differs from eager."""
    found: list[Finding] = []
    for name in COMPILED:
        if name not in arms:
            continue
        seen = {(one.slug, one.actual) for one in found}
        found += [one for one in _in_arm(eager, arms, name, contract) if _key(one) not in seen]
    return tuple(found)


def _key(found: Finding) -> tuple[str, str]:
    """What makes it the same failure in another arm."""
    return found.slug, found.actual


def _in_arm(eager: Arm, arms: Arms, name: str, contract: Contract) -> Iterator[Finding]:
    """The ways in which one arm differs: one for each thing that is raised, or lost."""
    refused = ends_the_program(arms[name])
    if refused:
        yield refused
    causes: defaultdict[tuple[str, str], list[Difference]] = defaultdict(list)
    for difference in differences(eager, arms[name]):
        causes[difference.kind, cause_of(difference)].append(difference)
    for number, same in enumerate(list(causes.values())[:_CAUSES]):
        if same[0].kind == "lost":
            yield lost(same[0])
        else:
            yield stage_raises(same, arms, contract, number)


def _no_failure(arms: Arms, contract: Contract, command: str) -> Judged:
    """No arm raised: say what that proves."""
    broken = [arms[n] for n in (AGAIN, *COMPILED) if n in arms and not arms[n].ran]
    own = [arm for arm in own_arms(arms, contract) if arm.ran]
    compiled = [arms[name] for name in COMPILED if name in arms]
    if compiled and not broken and not any(arm.calls or arm.compiles for arm in compiled):
        return not_measured("RUNS", "the program runs, and calls nothing that was compiled")
    if own:
        names = ", ".join(arm.name for arm in own)
        also = "".join(f"; the {arm.name} arm {_ended(arm)}" for arm in broken)
        return judged("RUNS", "holds", f"no exception in eager or compiled arms ({names}){also}")
    if broken:
        return not_measured("RUNS", f"the {broken[0].name} arm {_ended(broken[0])}", command)
    return _by_capture(arms, contract, command)


def _by_capture(arms: Arms, contract: Contract, command: str) -> Judged:
    """What the capture arm proves where no arm ran the workload's own backend."""
    if nothing_captured(arms):
        return not_measured("RUNS", "no graph ran in the capture arm", command)
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
