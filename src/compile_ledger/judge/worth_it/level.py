"""Level 5, WORTH_IT: do the graphs repay what they cost."""

from __future__ import annotations

import dataclasses

from compile_ledger.facts.contract import Contract
from compile_ledger.judge.choose import (
    CAPTURE_ONLY,
    RECORDED,
    STEADY,
    Arms,
    deciding_stability,
)
from compile_ledger.judge.document import Cost, Evidence, Finding, FindingCost
from compile_ledger.judge.judged import Judged, failed, judged, not_measured
from compile_ledger.judge.suggest import audit_command
from compile_ledger.judge.words import short_seconds

from .payback import cost
from .steady import resolved, steady_facts


def judge_worth_it(arms: Arms, contract: Contract) -> Judged:
    """Judge WORTH_IT from steady-state samples and the cold and warm arms.

    Without a stated horizon, faster in steady state holds whatever the demonstration's
    length: nobody knows how many calls a process will serve but its user.
    """
    if contract.own_backend in CAPTURE_ONLY:
        why = (
            f"backend {contract.own_backend!r} runs the captured graph as it is; "
            "there is nothing to be worth"
        )
        return not_measured("WORTH_IT", why)
    found = cost(arms, contract, deciding_stability(arms))
    if not steady_facts(arms):
        return not_measured("WORTH_IT", _why_not(arms, contract), _command(arms, contract))
    if found.ratio.value is None:
        return not_measured("WORTH_IT", found.why or found.ratio.why)
    noise = resolved(found)
    if noise:
        why = f"{_ratio(found)} is inside the noise here: {noise}; an idle machine resolves more"
        return judged("WORTH_IT", "not_resolved", why)
    return _from_saving(found)


def skipped(failed_level: str, contract: Contract) -> Judged:
    """The level is not judged: an earlier one failed."""
    command = audit_command(contract, full=True)
    return not_measured("WORTH_IT", f"not judged: {failed_level} failed first", command)


def _why_not(arms: Arms, contract: Contract) -> str:
    if RECORDED in arms:
        return "a recording has no eager arm to compare with"
    if STEADY in arms:
        why = arms[STEADY].why or f"it {arms[STEADY].status}"
        return f"the arm that times calls ended before it could: {why}"
    asked = ": --quick does not run generated code" if contract.depth == "quick" else ""
    return f"steady state was not measured{asked}"


def _command(arms: Arms, contract: Contract) -> str:
    """The audit that would time calls; none where that arm was run already."""
    if STEADY in arms:
        return ""
    return audit_command(contract, full=contract.depth == "default")


def _from_saving(found: Cost) -> Judged:
    """The saving is resolved: slower fails, else a stated horizon decides."""
    saving = found.saving_per_call.value or 0.0
    if saving < 0:
        return failed("WORTH_IT", (_finding(found, f"compiled is slower: {_ratio(found)}"),))
    if not _states(found):
        why = f"{_faster(found)}, but no cold or warm start was measured"
        return not_measured("WORTH_IT", why)
    said = f"{_faster(found)}; {_paybacks(found)}"
    if found.horizon is None:
        return judged("WORTH_IT", "holds", f"{said}; state --horizon to judge a restart")
    said += f"; horizon {found.horizon:,} calls (stated)"
    late = _late_states(found)
    if not late:
        return judged("WORTH_IT", "holds", said)
    names = " and ".join(late)
    sentence = f"a {names} start is not repaid within {found.horizon:,} calls: {said}"
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
    """``1.250 times eager's CPU time [..], loses 1 ms a call``, and what a call is."""
    ratio, saving = found.ratio, found.saving_per_call
    value, low, high = ratio.value or 0.0, ratio.low or 0.0, ratio.high or 0.0
    saved = (saving.value or 0.0) / 1e9
    word = "saves" if saved >= 0 else "loses"
    return (
        f"{value:.3f} times eager's CPU time [{low:.3f}, {high:.3f}], "
        f"{word} {short_seconds(abs(saved))} a call{_timed(found)}"
    )


def _faster(found: Cost) -> str:
    return f"{1 / (found.ratio.value or 1.0):.3g} times faster ({_ratio(found)})"


def _timed(found: Cost) -> str:
    """What of a replayed call was timed, where that is not all of it."""
    what = found.design.partition(", ")[2]
    return f" ({what}, replayed)" if what else ""


def _paybacks(found: Cost) -> str:
    """After how many calls each start is repaid by what the region itself cost."""
    states = [
        ("warm", found.warm_break_even, found.warm_process_seconds),
        ("cold", found.cold_break_even, found.cold_process_seconds),
    ]
    known = [(name, calls, fixed) for name, calls, fixed in states if calls is not None]
    repaid = ", ".join(f"{calls:,.0f} {name}" for name, calls, _ in known)
    repaid = repaid.replace(" ", " calls ", 1)
    fixed = [f"{short_seconds(own)} {name}" for name, _, own in known if own]
    apart = f" (a process that compiles anything pays {', '.join(fixed)} before)" if fixed else ""
    return f"repaid after {repaid}{apart}"


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
