"""What breaks cost: the same region twice in one process, with and without its break."""

from __future__ import annotations

from pathlib import Path

import pytest

from compile_ledger.experiment import plan
from compile_ledger.experiment.break_interventions import candidates
from compile_ledger.experiment.plan import Terms
from compile_ledger.facts.graph_break import GraphBreak
from compile_ledger.facts.timing import Ablation

from .support import audited, program, run

ITEM, PRINT = GraphBreak("Tensor.item"), GraphBreak("builtin: print []")


def ablated(workload: str, folder: Path, *breaks: GraphBreak) -> Ablation:
    """The fact of an ablation arm under the workload's own backend, which is eager."""
    terms = Terms(program(f"breaks.py:{workload}"), folder)
    chosen = list(candidates(breaks))[-1]
    arm = run(terms, plan.ablation(terms, chosen, {0}))
    assert arm.status == "finished", arm.why
    assert arm.lost == ()
    (fact,) = arm.ablations
    return fact


def test_both_ways_run_beside_each_other(tmp_path: Path) -> None:
    fact = ablated("item_workload", tmp_path, ITEM)
    assert fact.why == ""
    assert (fact.graphs, fact.graphs_without) == (2, 1)
    assert len(fact.broken) == len(fact.broken_again) == len(fact.without) > 30


def test_a_skipped_frame_runs_beside_its_graph(tmp_path: Path) -> None:
    fact = ablated("loop_workload", tmp_path, ITEM, PRINT)
    assert fact.why == ""
    assert (fact.graphs, fact.graphs_without) == (0, 1)


def test_a_change_that_removes_nothing_is_not_timed(tmp_path: Path) -> None:
    fact = ablated("branches_workload", tmp_path, ITEM)
    assert "does not make fewer graphs" in fact.why
    assert not fact.broken


PROGRAM = """
import torch

@torch.compile
def scale(x):
    return (x.sin() * x.sum().item()).cos()

for number in range(9):
    scale(torch.linspace(0.1, 1, 64) * (1 + number % 3))
"""


@pytest.mark.slow
def test_an_audit_prices_the_break_under_the_program_s_own_backend(tmp_path: Path) -> None:
    path = tmp_path / "serve.py"
    path.write_text(PROGRAM)
    ledger = audited(program(str(path)), tmp_path / "out", "default").ledger()
    (row,) = ledger.breaks
    assert row.cost.cpu_ns is not None, row.cost.why
    assert row.cost.low_ns is not None
    assert row.cost.high_ns is not None
    assert row.cost.low_ns <= row.cost.cpu_ns <= row.cost.high_ns
    assert row.cost.noise.value is not None
    captured = ledger.levels[2]
    assert captured.status == ("holds" if row.cost.unresolved or row.cost.cpu_ns < 0 else "fails")
