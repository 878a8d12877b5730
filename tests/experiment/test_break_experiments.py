"""Graph breaks, with real torch: the setting that captures what the break names."""

from __future__ import annotations

from pathlib import Path

import pytest
from torch._dynamo import config

from compile_ledger.experiment import plan
from compile_ledger.experiment.break_interventions import break_experiments, candidates
from compile_ledger.experiment.interventions import Intervention
from compile_ledger.experiment.plan import Terms
from compile_ledger.facts.arm import Arm
from compile_ledger.facts.graph_break import GraphBreak
from compile_ledger.facts.place import Place
from compile_ledger.judge.document import ExperimentRow
from compile_ledger.render.headline import headline

from .support import audited, program, run

ITEM = GraphBreak("Tensor.item")
SHAPE = GraphBreak("Dynamic shape operator")
PRINT = GraphBreak("builtin: print []")
BRANCH = GraphBreak("Data-dependent branching")


def names(*breaks: GraphBreak) -> list[str]:
    return [one.name for one in candidates(breaks)]


def test_a_change_names_only_what_a_break_named() -> None:
    assert names(ITEM) == ["capture-scalars"]
    assert names(SHAPE) == ["capture-dynamic-shapes"]
    assert names(ITEM, SHAPE, BRANCH) == ["capture-dynamic-shapes+capture-scalars"]
    assert names(PRINT) == ["reorder-print", "ignore-print"]
    assert names(ITEM, PRINT) == ["capture-scalars+ignore-print"]


def test_what_no_setting_captures_calls_for_no_experiment() -> None:
    assert names(BRANCH, GraphBreak("Call to `torch._dynamo.graph_break()`")) == []


def test_functions_travel_by_name() -> None:
    (_, ignored) = candidates([PRINT])
    assert ignored.settings == {"ignore_logging_functions": ["builtins.print"]}
    assert ignored.change == "torch._dynamo.config.ignore_logging_functions = {print}"


def test_breaks_inside_the_logging_package_name_no_function_of_their_own() -> None:
    log = GraphBreak(
        "logging.Logger method not supported", explanation="method: <Logger toy (WARNING)>.warning"
    )
    inside = GraphBreak(
        "skipped: time.time", (Place("/usr/lib/python3.11/logging/__init__.py", 9),)
    )
    (ignored,) = candidates([log, inside])
    assert ignored.settings == {"ignore_logging_functions": ["logging.Logger.warning"]}
    (every,) = candidates([inside])
    assert "logging.info" in every.settings["ignore_logging_functions"]
    assert "..." not in every.change


def experiments(name: str, folder: Path) -> list[ExperimentRow]:
    """The rows of one workload, up to the first that holds, without the rest of an audit."""
    terms = Terms(program(f"breaks.py:{name}"), folder)
    before = run(terms, plan.capture(terms))

    def change(chosen: Intervention) -> Arm:
        return run(terms, plan.intervention(terms, chosen))

    rows = []
    for row in break_experiments(before, {0}, change):
        rows.append(row)
        if row.outcome == "holds":
            break
    return rows


@pytest.mark.parametrize(
    ("workload", "changes"),
    [
        ("positive_workload", ["capture-dynamic-shapes"]),
        # torch 2.14 moves no call that has keyword arguments.
        ("warns_workload", ["reorder-warnings", "ignore-warnings"]),
        ("logs_workload", ["ignore-logging"]),
        ("module_logs_workload", ["ignore-logging"]),
    ],
)
def test_one_setting_makes_one_graph(workload: str, changes: list[str], tmp_path: Path) -> None:
    row = experiments(workload, tmp_path)[-1]
    assert row.outcome == "holds"
    assert row.name in changes
    assert row.before is not None
    assert row.after is not None
    assert (row.before.graphs_high, row.after.graphs_high) == (2, 1)


def test_a_log_call_that_the_break_does_not_name_is_read_from_its_line(tmp_path: Path) -> None:
    row = experiments("module_logs_workload", tmp_path)[-1]
    assert row.change == "torch._dynamo.config.ignore_logging_functions = {logging.debug}"


@pytest.mark.skipif(not hasattr(config, "trace_autograd_ops"), reason="not in this torch")
def test_a_backward_call_is_traced_where_this_torch_can(tmp_path: Path) -> None:
    (row,) = experiments("trains_workload", tmp_path)
    assert (row.name, row.outcome) == ("trace-autograd", "holds")


def test_where_capturing_one_uncovers_another_the_next_change_is_about_both(
    tmp_path: Path,
) -> None:
    first, second = experiments("loop_workload", tmp_path)
    assert (first.name, first.outcome) == ("capture-scalars", "not_resolved")
    assert (second.name, second.outcome) == ("capture-scalars+ignore-print", "holds")
    assert second.before is not None
    assert second.before.graphs_high == 0


def test_a_branch_on_the_value_is_uncovered_when_the_value_is_captured(tmp_path: Path) -> None:
    (row,) = experiments("branches_on_item_workload", tmp_path)
    assert row.outcome == "not_resolved"
    assert "uncovers another: Data-dependent branching at " in row.sentence


def test_torch_s_own_instruments_are_asked_in_an_arm_of_their_own(tmp_path: Path) -> None:
    terms = Terms(program("breaks.py:loop_workload"), tmp_path)
    arm = run(terms, plan.opinions(terms, {0}))
    (said,) = arm.opinions
    assert (said.explain_graphs, said.explain_breaks, said.explain_why) == (0, -1, "")
    assert said.fullgraph is False
    assert said.fullgraph_why
    assert len(arm.calls) == 8
    assert arm.lost == ()


def test_an_audit_says_which_edit_removes_what_no_setting_captures(tmp_path: Path) -> None:
    ledger = audited(program("breaks.py:branches_workload"), tmp_path).ledger()
    assert ledger.experiments == ()
    assert headline(ledger).experiments == ()
    assert headline(ledger).advice.startswith("compute both sides and choose with torch.where")
    (row,) = ledger.breaks
    assert row.removal.startswith("no setting captures it; an edit: compute both sides")
