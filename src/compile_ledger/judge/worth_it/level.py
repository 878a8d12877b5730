"""Level 5, WORTH_IT: do the graphs repay what they cost."""

from __future__ import annotations

import dataclasses

from compile_ledger.facts.contract import Contract
from compile_ledger.judge.choose import CAPTURE_ONLY, RECORDED, Arms, deciding_stability
from compile_ledger.judge.document import Cost, Evidence, Finding, FindingCost
from compile_ledger.judge.judged import Judged, failed, judged, not_measured
from compile_ledger.judge.suggest import audit_command
from compile_ledger.judge.words import short_seconds

from .payback import cost
from .steady import resolved, steady_facts


def judge_worth_it(arms: Arms, contract: Contract) -> Judged:
    """Judge WORTH_IT from steady-state samples and the cold and warm arms."""
    command = audit_command(contract, full=True)
    if contract.own_backend in CAPTURE_ONLY:
        why = (
            f"backend {contract.own_backend!r} runs the captured graph as it is; "
            "there is nothing to be worth"
        )
        return not_measured("WORTH_IT", why)
    found = cost(arms, contract, deciding_stability(arms))
    if not steady_facts(arms):
        return not_measured("WORTH_IT", _why_not(arms), command)
    if found.ratio.value is None:
        return not_measured("WORTH_IT", found.why or found.ratio.why, command)
    noise = resolved(found)
    if noise:
        return judged("WORTH_IT", "not_resolved", noise, command=command)
    return _from_saving(found, command)


def skipped(failed_level: str, contract: Contract) -> Judged:
    """The level is not judged: an earlier one failed."""
    command = audit_command(contract, full=True)
    return not_measured("WORTH_IT", f"not judged: {failed_level} failed first", command)


def _why_not(arms: Arms) -> str:
    if RECORDED in arms:
        return "a recording has no eager arm to compare with"
    return "steady state was not measured"


def _from_saving(found: Cost, command: str) -> Judged:
    """The saving is resolved: slower fails, else the break-even decides."""
    saving = found.saving_per_call.value or 0.0
    if saving < 0:
        return failed("WORTH_IT", (_finding(found, f"compiled is slower: {_ratio(found)}"),))
    if found.cold_break_even is None and found.warm_break_even is None:
        why = f"{_ratio(found)}, but no cold or warm start was measured"
        return not_measured("WORTH_IT", why, command)
    said = f"{_ratio(found)}; {_paybacks(found)}; horizon {found.horizon} ({found.horizon_source})"
    late = _late_states(found)
    if not late:
        return judged("WORTH_IT", "holds", f"repaid: {said}")
    names = " and ".join(late)
    sentence = f"a {names} start is not repaid within {found.horizon} calls: {said}"
    if len(late) == len(_states(found)):
        return failed("WORTH_IT", (_finding(found, sentence),))
    note = dataclasses.replace(_finding(found, sentence), severity="note")
    return judged("WORTH_IT", "holds", sentence, (note,))


def _states(found: Cost) -> dict[str, float]:
    """Cache state to break-even in calls, for the states that were measured."""
    known = {"cold": found.cold_break_even, "warm": found.warm_break_even}
    return {name: calls for name, calls in known.items() if calls is not None}


def _late_states(found: Cost) -> list[str]:
    """The cache states that are repaid only after the horizon."""
    horizon = found.horizon
    return [name for name, calls in _states(found).items() if horizon and calls > horizon]


def _ratio(found: Cost) -> str:
    ratio, saving = found.ratio, found.saving_per_call
    value, low, high = ratio.value or 0.0, ratio.low or 0.0, ratio.high or 0.0
    saved = (saving.value or 0.0) / 1e9
    word = "saves" if saved >= 0 else "loses"
    return (
        f"{value:.3f} times eager's CPU time [{low:.3f}, {high:.3f}], "
        f"{word} {short_seconds(abs(saved))} a call{_forward_only(found)}"
    )


def _forward_only(found: Cost) -> str:
    """The backward pass of a replayed training step is not among what was timed."""
    return " (forward pass alone, replayed)" if "forward only" in found.design else ""


def _paybacks(found: Cost) -> str:
    states = (
        ("cold", found.cold_seconds, found.cold_break_even),
        ("warm", found.warm_seconds, found.warm_break_even),
    )
    return ", ".join(
        f"{name} start {short_seconds(seconds)} repaid after {calls:,.0f} calls"
        for name, seconds, calls in states
        if seconds is not None and calls is not None
    )


def _finding(found: Cost, sentence: str) -> Finding:
    return Finding(
        id="not-worth-it",
        slug="not-worth-it",
        level="WORTH_IT",
        severity="failure",
        sentence=sentence,
        expected="compiled calls repay their cost",
        actual=_ratio(found),
        cost=FindingCost(seconds=found.cold_seconds),
        evidence=(Evidence("paired CPU time, interleaved (steady state)", _ratio(found)),),
    )
