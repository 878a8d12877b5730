"""An experiment on level CORRECT: one change, and whether the outputs that differed agree."""

from __future__ import annotations

from compile_ledger.facts.arm import Arm
from compile_ledger.judge.document import ExperimentRow, Outcome
from compile_ledger.judge.experiments import reading
from compile_ledger.judge.words import count

from .agreements import EXCEPTION

_Key = tuple[int | None, int | None, str]


def judge_agreement(before: Arm, after: Arm, name: str, change: str, tests: str) -> ExperimentRow:
    """Compare what differed from eager before the change with the same after it."""
    wrong = {key for key, status in _compared(before).items() if status == "differs"}
    outcome, said = _outcome(wrong, after)
    head = {"holds": "diagnosis holds", "refuted": "diagnosis refuted"}.get(outcome, "not resolved")
    sentence = f"{head}: with {change}, {said} (before: {count(len(wrong), 'output')} differed)"
    second = reading(after) if after.calls else None
    return ExperimentRow(
        name, change, tests, reading(before), second, outcome, sentence, level="CORRECT"
    )


def _outcome(wrong: set[_Key], after: Arm) -> tuple[Outcome, str]:
    found = _compared(after)
    again = [found[key] for key in wrong if key in found]
    if not after.ran and not again:
        return "not_resolved", f"the arm {after.status}: {after.why or 'no reason'}"
    still = again.count("differs")
    if len(again) < len(wrong):
        return "not_resolved", f"{count(len(wrong) - len(again), 'output')} not compared"
    if not still:
        return "holds", "what differed agrees with eager"
    if still == len(wrong):
        return "refuted", "the same outputs differ"
    return "not_resolved", f"{still} of the outputs still differ"


def _compared(arm: Arm) -> dict[_Key, str]:
    """What became of each output that was compared."""
    return {
        (a.region, a.call, a.leaf): a.status
        for a in arm.agreements
        if a.status != "not_compared" and a.leaf != EXCEPTION
    }
