"""An experiment: whether the failure's mechanism goes with one change."""

from __future__ import annotations

from typing import Any

import pytest

from compile_ledger.facts.arm import Arm
from compile_ledger.judge.document import ExperimentRow
from compile_ledger.judge.experiments import judge_experiment, reading

from . import make


def run(before: Arm, after: Arm) -> ExperimentRow:
    return judge_experiment(before, after, "dynamic", "dynamic=None", "static shape")


def settling(**fields: Any) -> Arm:
    base = {
        "calls": make.calls("cr..........."),
        "compiles": (make.compile_at(0), make.compile_at(1, "recompiled", make.size("x", 0, 4, 8))),
    }
    return make.healthy("experiment:dynamic", **{**base, **fields})


def test_settling_after_a_limit_holds_with_both_readings() -> None:
    row = run(make.chapter(), settling())
    assert row.outcome == "holds"
    assert row.sentence == (
        "diagnosis holds: with dynamic=None, 2 compiles, settled "
        "(before: 8 compiles, 1 refused, 3 fell back, not settled)"
    )
    assert row.before is not None
    assert (row.before.recompiles, row.before.graph_runs) == (7, 9)


def test_the_same_failure_refutes() -> None:
    row = run(make.chapter(), make.chapter("experiment:dynamic"))
    assert row.outcome == "refuted"
    assert row.sentence.startswith("diagnosis refuted")


def test_still_recompiling_in_the_tail_refutes() -> None:
    events = make.length_compiles(range(4, 11), limit=99)
    after = settling(calls=make.calls("crrrrrr"), compiles=events)
    assert run(make.healthy(calls=make.calls("crrrrrr"), compiles=events), after).outcome == (
        "refuted"
    )


def test_code_object_switched_off_instead_is_not_resolved() -> None:
    off = make.compile_at(3, "switched_off", entries_before=1)
    after = settling(calls=make.calls("c..ooo"), compiles=(make.compile_at(0), off))
    assert reading(after).settled is False
    assert run(make.chapter(), after).outcome == "not_resolved"


def test_fewer_recompiles_and_no_limit_but_not_settled_is_not_resolved() -> None:
    reasons = [make.size("x", 0, 4 + i, 5 + i) for i in range(3)]
    events = (
        make.compile_at(0),
        *(make.compile_at(10 + i, "recompiled", why) for i, why in enumerate(reasons)),
    )
    after = settling(calls=make.calls("c.........rrr"), compiles=events)
    row = run(make.chapter(), after)
    assert row.outcome == "not_resolved"
    assert "shrank but remains" in row.sentence


def test_failed_arm_is_not_resolved_and_has_no_reading() -> None:
    row = run(make.chapter(), settling(status="timed_out", why="60 s"))
    assert row.outcome == "not_resolved"
    assert row.after is None
    assert row.sentence == "not resolved: the experiment's arm timed_out: 60 s"


@pytest.mark.parametrize("pattern", ["c..", "c"])
def test_too_short_a_stream_is_not_resolved(pattern: str) -> None:
    after = settling(calls=make.calls(pattern), compiles=(make.compile_at(0),))
    row = run(make.chapter(), after)
    assert row.outcome == "not_resolved"
    assert row.sentence.startswith("not resolved: the stream is too short to tell")


def test_nothing_that_failed_before_is_not_resolved() -> None:
    assert run(make.healthy(), settling()).outcome == "not_resolved"


def test_trivial_frame_left_beside_graphs_does_not_count_as_off() -> None:
    helper = make.compile_at(0, "switched_off", code_object=1, why="the frame has no tensor op")
    after = settling(calls=make.calls("o....", graphs=1), compiles=(make.compile_at(0), helper))
    assert run(make.chapter(), after).outcome == "holds"


def test_reading_counts_entries_and_seconds() -> None:
    found = reading(make.chapter())
    assert (found.compiles, found.entries, found.refused, found.fell_back) == (8, 8, 1, 3)
    assert found.settled is False


def growing(limit: int, number: int, name: str = "recompile_limit") -> Arm:
    """Every call brings another string, until a limit."""
    events = [make.compile_at(0)]
    events += [
        make.compile_at(i, "recompiled", f"0/{i - 1}: name == 'a{i}'")
        for i in range(1, min(limit, number))
    ]
    if limit < number:
        hit = {"limit": name, "limit_value": limit}
        events.append(make.compile_at(limit, "refused", "0/0: name == 'a'", **hit))
    calls = "c" + "r" * (min(limit, number) - 1) + ("x" if limit < number else "")
    return make.healthy(
        calls=make.calls(calls + "f" * (number - len(calls))), compiles=tuple(events)
    )


def raised(before: Arm, after: Arm) -> ExperimentRow:
    return judge_experiment(before, after, "raise-limit", "a higher limit", "values", "no_limit")


def test_a_higher_limit_is_no_cure_where_each_value_makes_an_entry_to_the_end() -> None:
    row = raised(growing(8, 12), growing(64, 12))
    assert row.outcome == "not_resolved"
    assert "every new value makes one more entry, without bound" in row.sentence


def test_a_higher_limit_holds_where_the_values_end() -> None:
    more = growing(64, 12)
    ends = make.healthy(calls=make.calls("c" + "r" * 11 + "." * 12), compiles=more.compiles)
    row = raised(growing(8, 12), ends)
    assert row.outcome == "holds"
    assert row.sentence.startswith("diagnosis holds: with room for all values it settles")


def test_a_limit_that_the_program_sets_itself_was_not_changed() -> None:
    row = raised(growing(8, 12), growing(8, 12))
    assert row.outcome == "not_resolved"
    assert "no change was made, the program sets recompile_limit = 8" in row.sentence
