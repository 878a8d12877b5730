"""State that one side changed and the other did not: which one, and whether it matters."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from compile_ledger.experiment.correctness.error import Tolerance, Where
from compile_ledger.experiment.correctness.store import Store
from compile_ledger.experiment.correctness.watchers import Comparer
from compile_ledger.facts.agreement import Agreement

OLD, NEW = torch.zeros(3), torch.ones(3)


def compared(tmp_path: Path, eager: Any, compiled: Any, before: Any) -> Agreement:
    comparer = Comparer((Store(tmp_path), Store(tmp_path)), 8, Tolerance(), lambda _: None)
    return comparer.compare_one(Where(0, 3, "state mean"), (eager, compiled), before, None)


@pytest.mark.parametrize(
    ("eager", "compiled", "before", "why"),
    [
        (NEW, None, OLD, "eager changed it, the compiled call did not"),
        (None, NEW, OLD, "the compiled call changed it, eager did not"),
        ("int 4", None, "int 3", "eager changed it to int 4, the compiled call did not"),
        (None, "taken away", OLD, "the compiled call took it away, eager did not"),
        (NEW, None, None, "present in eager only: torch.float32 [3]"),
    ],
)
def test_the_side_that_lacks_a_change_is_named(
    tmp_path: Path, eager: Any, compiled: Any, before: Any, why: str
) -> None:
    found = compared(tmp_path, eager, compiled, before)
    assert (found.status, found.why) == ("differs", why)


def test_a_change_within_rounding_that_one_side_lacks_is_none(tmp_path: Path) -> None:
    settled = NEW + 1e-7
    assert compared(tmp_path, settled, None, NEW).status == "within"
    assert compared(tmp_path, None, settled, NEW).status == "within"


@pytest.mark.parametrize(
    ("eager", "compiled", "status"),
    [
        ("float 0.25", "float 0.2500001", "within"),
        ("float 0.25", "float 0.26", "differs"),
        ("float nan", "float nan", "equal"),
        ("int 1", "int 2", "differs"),
    ],
)
def test_python_floats_have_the_stated_tolerance(
    tmp_path: Path, eager: str, compiled: str, status: str
) -> None:
    assert compared(tmp_path, eager, compiled, None).status == status
