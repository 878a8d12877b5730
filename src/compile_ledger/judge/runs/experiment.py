"""An experiment on level RUNS: one change, and whether compiled code runs with it."""

from __future__ import annotations

from compile_ledger.facts.arm import Arm
from compile_ledger.facts.place import Raised
from compile_ledger.judge.document import ExperimentRow, Outcome
from compile_ledger.judge.experiments import reading
from compile_ledger.judge.words import count, short_type


def judge_run(before: Arm, after: Arm, name: str, change: str, tests: str) -> ExperimentRow:
    """Compare what an arm raised before the change with what it raises after it."""
    was, now = raised_in(before), raised_in(after)
    outcome, said = _outcome(was, now, after)
    head = {"holds": "diagnosis holds", "refuted": "diagnosis refuted"}.get(outcome, "not resolved")
    sentence = f"{head}: with {change}, {said} (before: {_type(was)}{_times(before)})"
    shown = reading(after) if after.calls else None
    return ExperimentRow(
        name, change, tests, reading(before), shown, outcome, sentence, level="RUNS"
    )


def raised_in(arm: Arm) -> Raised | None:
    """The first exception that left a call of the arm, else the one that ended it."""
    return next((call.raised for call in arm.calls if call.raised), arm.raised)


def _outcome(was: Raised | None, now: Raised | None, after: Arm) -> tuple[Outcome, str]:
    if now is None and after.ran and after.calls:
        return "holds", f"no exception in {count(len(after.calls), 'call')}"
    if now is None:
        return "not_resolved", f"the arm {after.status}: {after.why or 'no reason'}"
    if _type(now) == _type(was):
        return "refuted", f"{_type(now)} as before"
    return "not_resolved", f"{_type(now)} instead"


def _type(raised: Raised | None) -> str:
    return short_type(raised.type) if raised else "no exception"


def _times(arm: Arm) -> str:
    number = sum(call.raised is not None for call in arm.calls)
    return f" in {count(number, 'call')}" if number else ""
