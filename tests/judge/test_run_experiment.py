"""One change after which compiled code may run where it raised."""

from __future__ import annotations

import dataclasses

import pytest

from compile_ledger.facts.arm import Arm
from compile_ledger.judge.runs.experiment import judge_run

from . import make


def raising(kind: str) -> Arm:
    """A capture arm that ends by an exception of its second call."""
    what = make.raised(kind)
    first, second, *_ = make.calls("c...")
    bad = dataclasses.replace(second, disposition="raised", raised=what)
    return make.healthy(calls=(first, bad), status="raised", raised=what)


@pytest.mark.parametrize(
    ("after", "outcome", "sentence"),
    [
        (
            make.healthy("experiment:x", 4),
            "holds",
            "diagnosis holds: with X, no exception in 4 calls (before: ValueError in 1 call)",
        ),
        (
            raising("ValueError"),
            "refuted",
            "diagnosis refuted: with X, ValueError as before (before: ValueError in 1 call)",
        ),
        (
            raising("IndexError"),
            "not_resolved",
            "not resolved: with X, IndexError instead (before: ValueError in 1 call)",
        ),
        (
            make.arm("experiment:x", status="failed", why="no such setting"),
            "not_resolved",
            "not resolved: with X, the arm failed: no such setting (before: ValueError in 1 call)",
        ),
    ],
)
def test_an_outcome_is_what_the_changed_arm_raises(after: Arm, outcome: str, sentence: str) -> None:
    row = judge_run(raising("ValueError"), after, "x", "X", "it tests")
    assert (row.outcome, row.sentence) == (outcome, sentence)
    assert (row.after is None) == (not after.calls)
