"""One change after which the outputs that differed may agree with eager."""

from __future__ import annotations

from typing import Any

import pytest

from compile_ledger.facts.agreement import AgreementStatus
from compile_ledger.facts.arm import Arm
from compile_ledger.judge.correct.experiment import judge_agreement

from . import make


def compared(*statuses: AgreementStatus, **fields: Any) -> Arm:
    """An arm with one output a call."""
    leaves = tuple(make.agree(status=s, call=i) for i, s in enumerate(statuses))
    return make.healthy("experiment:x", agreements=leaves, **fields)


@pytest.mark.parametrize(
    ("after", "outcome", "said"),
    [
        (compared("equal", "equal", "within"), "holds", "what differed agrees with eager"),
        (compared("equal", "differs", "differs"), "refuted", "the same outputs differ"),
        (compared("equal", "within", "differs"), "not_resolved", "1 of the outputs still differ"),
        (compared("equal", "equal"), "not_resolved", "1 output not compared"),
        (
            compared(status="failed", why="no such setting"),
            "not_resolved",
            "the arm failed: no such setting",
        ),
    ],
)
def test_an_outcome_is_what_became_of_the_outputs_that_differed(
    after: Arm, outcome: str, said: str
) -> None:
    before = compared("equal", "differs", "differs")
    row = judge_agreement(before, after, "x", "X", "it tests")
    assert row.outcome == outcome
    assert row.sentence.endswith(f"with X, {said} (before: 2 outputs differed)")
