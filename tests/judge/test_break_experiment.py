"""An experiment on breaks: whether calls became one graph."""

from __future__ import annotations

from typing import Any

import pytest

from compile_ledger.facts.arm import Arm
from compile_ledger.facts.graph_break import GraphBreak
from compile_ledger.facts.place import Place
from compile_ledger.judge.captured.experiment import judge_break_experiment
from compile_ledger.judge.document import ExperimentRow

from . import make

ITEM = GraphBreak("Tensor.item", (Place("model.py", 12),))
BRANCH = GraphBreak("Data-dependent branching", (Place("model.py", 13),))


def arm(graphs: int, *breaks: GraphBreak, **fields: Any) -> Arm:
    name = "capture" if ITEM in breaks else "experiment:capture-scalars"
    base = {
        "calls": make.calls("c....", graphs=graphs),
        "compiles": (make.compile_at(0, breaks=breaks),),
    }
    return make.healthy(name, **{**base, **fields})


def run(before: Arm, after: Arm) -> ExperimentRow:
    return judge_break_experiment(before, after, "capture-scalars", "X = True", "read", {"scalar"})


def test_one_graph_after_the_change_holds() -> None:
    row = run(arm(2, ITEM), arm(1))
    assert (row.outcome, row.level) == ("holds", "CAPTURED")
    assert row.sentence == (
        "diagnosis holds: with X = True, 1 graph per call (before: 2 graphs per call)"
    )
    assert row.before is not None
    assert (row.before.graphs_high, row.before.breaks, row.before.frames_skipped) == (2, 1, 0)


def test_the_same_break_again_refutes() -> None:
    row = run(arm(2, ITEM), arm(2, ITEM))
    assert row.outcome == "refuted"
    assert "the break is still there" in row.sentence


def test_a_break_that_uncovers_another_is_not_resolved_and_names_it() -> None:
    row = run(arm(2, ITEM), arm(2, BRANCH))
    assert row.outcome == "not_resolved"
    assert "uncovers another: Data-dependent branching at model.py:13" in row.sentence


def test_a_break_that_was_there_before_is_left() -> None:
    row = run(arm(2, ITEM, BRANCH), arm(2, BRANCH))
    assert "that break is gone, Data-dependent branching at model.py:13 is left" in row.sentence


def test_a_skipped_frame_that_becomes_one_graph_holds() -> None:
    off = make.compile_at(0, "switched_off", breaks=(ITEM,), why="break in a loop")
    before = arm(0, ITEM, calls=make.calls("ooo"), compiles=(off,))
    row = run(before, arm(1))
    assert row.outcome == "holds"
    assert "(before: 0 graphs per call, 1 frame skipped)" in row.sentence


@pytest.mark.parametrize("calls", [make.calls("c...", graphs=None), ()])
def test_graphs_that_were_not_counted_are_not_resolved(calls: Any) -> None:
    assert run(arm(2, ITEM), arm(1, calls=calls)).outcome == "not_resolved"


def test_an_arm_that_failed_is_not_resolved() -> None:
    row = run(arm(2, ITEM), arm(1, status="failed", why="this torch has no setting X"))
    assert (row.outcome, row.after) == ("not_resolved", None)
    assert "this torch has no setting X" in row.sentence


def test_another_region_s_breaks_are_no_matter() -> None:
    def two(graphs: int, *breaks: GraphBreak) -> Arm:
        other = make.compile_at(0, code_object=1, region=1, compile_id="1/0", breaks=(BRANCH,))
        return arm(
            graphs,
            *breaks,
            regions=(make.region(), make.region(1, "other", root=1)),
            calls=(*make.calls("c....", graphs=graphs), *make.calls("c....", 1, graphs=2)),
            compiles=(make.compile_at(0, breaks=breaks), other),
        )

    row = judge_break_experiment(two(2, ITEM), two(1), "n", "X = True", "read", {"scalar"}, 0)
    assert row.outcome == "holds"
    assert "1 graph per call (before: 2 graphs per call)" in row.sentence


def test_a_tail_that_still_runs_eagerly_is_not_held() -> None:
    codes = (make.code(), make.code(1, "resume", resume_of="encode"))
    off = make.compile_at(1, "switched_off", code_object=1, why="it broke", breaks=(ITEM,))

    def broken() -> Arm:
        return arm(1, ITEM, code_objects=codes, compiles=(make.compile_at(0, breaks=(ITEM,)), off))

    row = judge_break_experiment(broken(), broken(), "n", "X = True", "read", {"scalar"}, 0)
    assert row.outcome == "refuted"
