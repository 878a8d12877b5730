"""Whole training steps: no further from eager than rounding alone leads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from compile_ledger.experiment import plan
from compile_ledger.experiment.correctness.error import (
    Tolerance,
    Where,
    compare_leaf,
    nudge,
    within_drift,
)
from compile_ledger.experiment.correctness.store import needs_drift
from compile_ledger.facts.agreement import Agreement

from . import support

EAGER = torch.linspace(1.0, 2.0, 20)


def judged(compiled: Any, drifted: Any, before: Any = None) -> Agreement:
    pair = (EAGER, compiled)
    there = before if compiled is None else compiled
    found = compare_leaf(Where(0, 2, "state w"), EAGER, there, None, Tolerance(1e-7, 1e-7))
    return within_drift(found, pair, before, drifted)


@pytest.mark.parametrize(
    ("far", "drift", "status"), [(5e-5, 1e-5, "within"), (2e-4, 1e-5, "differs")]
)
def test_ten_times_the_drift_of_rounding_is_agreement(
    far: float, drift: float, status: str
) -> None:
    found = judged(EAGER * (1 + far), EAGER * (1 + drift))
    assert found.status == status
    assert ("where rounding alone leads 1.0e-05 away" in found.why) == (status == "differs")


def test_a_step_that_one_side_leaves_out_is_no_drift() -> None:
    assert judged(None, EAGER * (1 + 1e-6), before=EAGER - 0.01).status == "differs"


def test_another_dtype_or_nan_is_no_drift() -> None:
    assert judged(EAGER.double(), EAGER * 2).status == "differs"
    assert judged(EAGER * torch.nan, EAGER * 2).status == "differs"


def test_a_nudge_is_some_roundings_and_the_same_each_time() -> None:
    moved = [{"w": EAGER.clone(), "n": torch.ones(2, dtype=torch.int64)} for _ in range(2)]
    for named in moved:
        nudge(named)
    assert torch.equal(moved[0]["w"], moved[1]["w"])
    assert not torch.equal(moved[0]["w"], EAGER)
    torch.testing.assert_close(moved[0]["w"], EAGER, rtol=6e-7, atol=0)
    assert moved[0]["n"].tolist() == [1, 1]


@pytest.mark.slow
@pytest.mark.parametrize(("how", "differ"), [("once", False), ("twice", True)])
def test_a_compiled_step_that_updates_twice_is_found(
    how: str,
    differ: bool,  # noqa: FBT001
    tmp_path: Path,
) -> None:
    target = support.program("whole_step.py", how)
    arms = support.arms(target, tmp_path, plan.eager, plan.drift, plan.capture)
    assert needs_drift(tmp_path / "kept")
    every = arms["capture"].agreements
    assert {a.call for a in every if a.status != "not_compared"} == set(range(5))
    assert any(a.status == "differs" and a.leaf == "state 0.weight" for a in every) == differ
    assert differ or all(a.status != "differs" for a in every)
