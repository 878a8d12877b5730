"""The chapter's opening failure, from hand-made facts to the ledger."""

from __future__ import annotations

import dataclasses

from compile_ledger.facts.calls import DISPOSITIONS
from compile_ledger.judge.document import LEVELS, Ledger
from compile_ledger.judge.experiments import judge_experiment
from compile_ledger.judge.ledger import judge

from . import make


def ledger() -> Ledger:
    agreed = (make.agree(max_abs=1e-6, error_compiled=1e-7, error_eager=1e-7),)
    before = make.chapter("capture")
    after = make.arm(
        "experiment:dynamic",
        regions=(make.region(),),
        code_objects=(make.code(),),
        calls=make.calls("cr..........."),
        compiles=(
            make.compile_at(0),
            make.compile_at(1, "recompiled", make.size("idx", 1, 60, 63)),
        ),
    )
    correct = make.chapter("correct", agreements=agreed, status="stopped")
    again = make.arm("eager_again", agreements=(make.agree(status="equal"),))
    row = judge_experiment(before, after, "dynamic", "dynamic=None", "static shape")
    every = make.arms(make.eager(), again, before, correct, after)
    return judge(every, make.INDUCTOR, (row,), tool_version="0")


def test_first_failing_level_is_stable_by_shape_of_idx_axis_1() -> None:
    found = ledger()
    assert [level.level for level in found.levels] == list(LEVELS)
    assert [level.status for level in found.levels] == [
        "holds",
        "holds",
        "holds",
        "fails",
        "not_measured",
    ]
    assert found.diagnosis is not None
    assert (found.diagnosis.level, found.diagnosis.slug) == ("STABLE", "recompile-shape")
    assert (found.diagnosis.subject, found.diagnosis.axis) == ("idx", 1)
    assert (found.diagnosis.expected, found.diagnosis.actual) == ("60", "63")
    assert found.diagnosis.site == make.SITE
    assert found.unproven is None


def test_sentence_carries_lengths_calls_entries_limit_and_silent_calls() -> None:
    found = ledger()
    assert found.diagnosis is not None
    sentence = found.diagnosis.sentence
    assert "idx changes size on axis 1" in sentence
    assert "at least 9 distinct lengths in 13 calls, 8 entries" in sentence
    assert "recompile_limit (8) was hit at call 9" in sentence
    assert "3 calls ran eagerly, unannounced" in sentence


def test_companions_name_limit_and_silent_calls() -> None:
    by_slug = {finding.slug: finding for finding in ledger().findings}
    assert "at call 9" in by_slug["cache-limit"].sentence
    assert by_slug["silent-eager"].cost.calls == 3
    assert "calls 10-12" in by_slug["silent-eager"].sentence


def test_rows_hold_all_dispositions_limit_and_line() -> None:
    found = ledger()
    (region,) = found.regions
    assert set(region.dispositions) == set(DISPOSITIONS)
    assert {k: v for k, v in region.dispositions.items() if v} == {
        "compiled": 1,
        "recompiled": 7,
        "reused": 1,
        "refused": 1,
        "fell_back": 3,
    }
    (row,) = found.code_objects
    assert row.limit is not None
    assert (row.limit.name, row.limit.at_call, row.limit.value) == ("recompile_limit", 9, 8)
    assert (row.entries, row.graphs, len(row.cache_line)) == (8, 8, 8)
    assert row.cache_line[0].made_for == ""
    assert "expected 60, actual 63" in row.cache_line[1].made_for


def test_worth_it_is_not_judged_after_the_failure_and_says_the_command() -> None:
    last = ledger().levels[-1]
    assert last.why == "not judged: STABLE failed first"
    assert last.after_failure
    (gap,) = ledger().not_measured
    assert gap.command == "compile-ledger audit --full serve.py"


def test_experiment_holds_and_is_in_the_verdict() -> None:
    found = ledger()
    (row,) = found.experiments
    assert row.outcome == "holds"
    assert row.sentence.startswith("diagnosis holds")
    assert row.after is not None
    assert (row.after.compiles, row.after.settled) == (2, True)
    assert "STABLE fails" in found.verdict
    assert "diagnosis holds" in found.verdict


def test_every_cell_has_a_value_or_says_why() -> None:
    cells = [cell for line in ledger().lines for cell in line.cells]
    assert len(ledger().lines) == 8
    for cell in cells:
        assert bool(cell.why) == (cell.value is None), cell
        assert cell.value is None or cell.instrument, cell


def test_instruments_name_the_torch_version() -> None:
    capture = next(line for line in ledger().lines if line.name == "capture")
    assert capture.cells[0].instrument == "entry runs (recorder, torch 2.13.0)"


def test_command_prefix_replaces_ours() -> None:
    every = make.arms(make.eager(), make.chapter())
    found = judge(every, make.INDUCTOR, tool_version="0", command_prefix="python -m tool")
    assert found.unproven is not None
    assert found.unproven.command == "python -m tool serve.py"


def test_no_arms_at_all_still_make_a_ledger() -> None:
    found = judge({}, make.INDUCTOR, tool_version="0", interrupted=True)
    assert {level.status for level in found.levels} == {"not_measured"}
    assert found.interrupted
    assert dataclasses.asdict(found)["diagnosis"] is None
