"""What a break costs: an interval per call, and a failure or a note."""

from __future__ import annotations

import dataclasses
import random
from typing import Any

import pytest

from compile_ledger.facts.arm import Arm
from compile_ledger.facts.contract import Contract
from compile_ledger.facts.graph_break import GraphBreak
from compile_ledger.facts.place import Place
from compile_ledger.facts.timing import Ablation
from compile_ledger.judge.captured.break_rows import break_rows
from compile_ledger.judge.captured.level import judge_captured
from compile_ledger.judge.choose import Arms
from compile_ledger.judge.document import ExperimentRow
from compile_ledger.judge.ledger import judge
from compile_ledger.judge.view import look
from compile_ledger.render.headline import headline

from . import make

ITEM = GraphBreak("Tensor.item", (Place("model.py", 12),))
PRINT = GraphBreak("builtin: print []", (Place("model.py", 13),))
BRANCH = GraphBreak("Data-dependent branching", (Place("model.py", 14),))


def broken(*breaks: GraphBreak, graphs: int = 2, **fields: Any) -> Arm:
    base = {
        "calls": make.calls("c....", graphs=graphs),
        "compiles": (make.compile_at(0, breaks=breaks or (ITEM,)),),
    }
    return make.healthy(**{**base, **fields})


def around(middle: int, noise: int, seed: int) -> tuple[int, ...]:
    draw = random.Random(seed)  # noqa: S311  not for secrets
    return tuple(middle + draw.randint(-noise, noise) for _ in range(60))


def priced(as_is: int, without: int, noise: int = 300, **fields: Any) -> Arm:
    """The arm that timed the region: nanoseconds of a call as it is, and without breaks."""
    base: dict[str, Any] = {
        "experiment": "capture-scalars",
        "change": "X = True",
        "graphs": 2.0,
        "graphs_without": 1.0,
        "broken": around(as_is, noise, 1),
        "broken_again": around(as_is, noise, 2),
        "without": around(without, noise, 3),
    }
    return make.arm("ablation", ablations=(Ablation(0, **{**base, **fields}),))


def arms(one: Arm, *breaks: GraphBreak, left: tuple[GraphBreak, ...] = ()) -> Arms:
    after = broken(graphs=1, compiles=(make.compile_at(0, breaks=left),))
    after = dataclasses.replace(after, name="experiment:capture-scalars")
    return make.arms(broken(*breaks), after, one)


def test_a_cost_that_is_resolved_fails_and_is_said_with_its_interval() -> None:
    found = judge_captured(arms(priced(30_000, 17_000)), make.INDUCTOR)
    assert found.fails
    assert "; it costs 12.9 us [12.9 us, 13.0 us]" in found.level.why
    assert found.level.why.endswith("us] CPU per call")


def test_several_breaks_have_one_cost_that_may_hold_more() -> None:
    ignored = priced(30_000, 17_000, change="ignore_logging_functions = {print}")
    found = judge_captured(arms(ignored, ITEM, PRINT), make.INDUCTOR)
    assert "; the 2 breaks cost 12.9 us [" in found.level.why
    assert found.level.why.endswith("CPU per call, with the logging call itself")


@pytest.mark.parametrize(
    ("without", "said"),
    [(90_000, "without it a call takes 60.0 us more"), (29_990, "its cost is not resolved")],
)
def test_a_cost_that_is_negative_or_not_resolved_is_a_note(without: int, said: str) -> None:
    found = judge_captured(arms(priced(30_000, without, noise=200)), make.INDUCTOR)
    assert found.level.status == "holds"
    (note,) = found.findings
    assert (note.slug, note.severity) == ("graph-break", "note")
    assert said in note.sentence
    assert note.sentence in found.level.why


def test_a_difference_smaller_than_that_of_equal_calls_is_not_resolved() -> None:
    again = around(30_500, 20_000, 9)
    found = judge_captured(
        arms(priced(30_000, 29_000, noise=50, broken_again=again)), make.INDUCTOR
    )
    assert "its cost is not resolved" in found.findings[0].sentence


def test_graphs_that_the_change_leaves_keep_the_level_failing() -> None:
    fact = priced(30_000, 90_000, graphs=3.0, graphs_without=2.0)
    found = judge_captured(arms(fact, ITEM, BRANCH, left=(BRANCH,)), make.INDUCTOR)
    assert found.fails
    assert "(what X = True removes: 2 graphs are left)" in found.level.why


def test_no_graph_fails_whatever_it_costs() -> None:
    off = make.compile_at(0, "switched_off", breaks=(ITEM,), why="break in a loop")
    before = broken(calls=make.calls("ooo"), compiles=(off,))
    found = judge_captured(make.arms(before, priced(30_000, 90_000)), make.INDUCTOR)
    assert found.fails
    assert "without it a call takes" in found.level.why


def test_an_arm_that_took_no_sample_leaves_the_failure_with_the_reason() -> None:
    fact = priced(1, 1, why="what was compiled is gone")
    found = judge_captured(arms(fact), make.INDUCTOR)
    assert found.fails
    assert "its cost was not measured: what was compiled is gone" in found.level.why


def test_rows_have_the_cost_of_what_was_removed_together() -> None:
    every = arms(priced(30_000, 17_000), ITEM, PRINT, BRANCH, left=(BRANCH,))
    item, printed, branch = break_rows(look(every["capture"]), every, make.INDUCTOR)
    assert item.cost == printed.cost
    assert (item.cost.together, item.cost.change, item.cost.unresolved) == (2, "X = True", "")
    assert item.cost.cpu_ns == pytest.approx(13_000, abs=300)
    assert item.cost.low_ns is not None
    assert item.cost.high_ns is not None
    assert item.cost.low_ns < 13_100 < item.cost.high_ns + 300
    assert (branch.cost.cpu_ns, branch.cost.why) == (
        None,
        "not measured: it is there with X = True, too",
    )


@pytest.mark.parametrize(
    ("found", "contract", "why"),
    [
        (BRANCH, make.INDUCTOR, "no setting captures it"),
        (ITEM, make.EAGER_BACKEND, "backend 'eager' runs captured graphs as they are"),
        (ITEM, Contract(depth="quick"), "is not run with --quick"),
        (ITEM, make.INDUCTOR, "no arm without the break was run"),
    ],
)
def test_what_was_not_measured_says_why(found: GraphBreak, contract: Contract, why: str) -> None:
    (row,) = break_rows(look(broken(found)), {}, contract)
    assert row.cost.cpu_ns is None
    assert row.cost.why.startswith("not measured: ")
    assert why in row.cost.why


def test_a_break_that_costs_nothing_is_no_diagnosis() -> None:
    every = {**arms(priced(30_000, 90_000)), "eager": make.eager(5)}
    ledger = judge(every, make.INDUCTOR, tool_version="test")
    assert ledger.diagnosis is None or ledger.diagnosis.level != "CAPTURED"
    assert ledger.breaks[0].cost.cpu_ns == pytest.approx(-60_000, abs=300)


def test_an_experiment_on_breaks_says_nothing_of_another_diagnosis() -> None:
    row = ExperimentRow("x", "X = True", "reads", None, None, "holds", "holds: x", "CAPTURED")
    late = make.length_compiles(range(4, 14), limit=4)
    other = make.healthy(calls=make.calls("crrrxfff"), compiles=late)
    for arm, named in ((other, False), (broken(), True)):
        ledger = judge(make.arms(arm), make.INDUCTOR, [row], tool_version="test")
        assert ledger.diagnosis is not None
        assert ("holds: x" in ledger.verdict) is named
        assert ("holds: x" in headline(ledger).experiments) is named
