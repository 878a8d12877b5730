"""The whole document: levels in order, rows, lines, notes."""

from __future__ import annotations

import dataclasses

from compile_ledger.facts.arm import Lost
from compile_ledger.facts.calls import DISPOSITIONS, Counters, EntryRuns, RegionCalls
from compile_ledger.judge.arm_rows import MOST_CALLS, arm_rows
from compile_ledger.judge.choose import Arms
from compile_ledger.judge.document import Ledger
from compile_ledger.judge.ledger import judge
from compile_ledger.judge.slugs import SLUGS
from compile_ledger.judge.words import count, listed, short_seconds, spans

from . import make
from .test_worth_it import MS, measured


def ledger(every: Arms) -> Ledger:
    return judge(every, make.INDUCTOR, tool_version="0")


def healthy() -> Ledger:
    every = {**measured(make.steady(2 * MS, MS, 1000))}
    every["cold"] = dataclasses.replace(every["cold"], agreements=(make.agree(max_abs=0.0),))
    return ledger(every)


def test_clean_run_holds_on_all_levels_and_says_so() -> None:
    found = healthy()
    assert [level.status for level in found.levels] == ["holds"] * 5
    assert found.verdict == "all five levels hold"
    assert found.diagnosis is None
    assert found.unproven is None
    assert found.not_measured == ()
    assert found.findings == ()


def test_first_failing_level_is_the_diagnosis_and_later_ones_are_marked() -> None:
    capture = make.chapter(agreements=(make.agree("out", status="differs"),))
    found = ledger(make.arms(make.eager(), capture))
    assert found.diagnosis is not None
    assert found.diagnosis.level == "CORRECT"
    assert [level.after_failure for level in found.levels] == [False, False, True, True, True]
    assert found.levels[3].status == "fails"


def test_unproven_is_the_first_level_without_evidence_before_the_diagnosis() -> None:
    found = ledger(make.arms(make.eager(), make.chapter()))
    assert found.diagnosis is not None
    assert found.diagnosis.level == "STABLE"
    assert found.unproven is not None
    assert found.unproven.level == "RUNS"
    assert found.unproven.command == "compile-ledger audit serve.py"


def test_nothing_after_the_diagnosis_is_unproven() -> None:
    bad = make.eager(status="raised", raised=make.raised())
    found = ledger(make.arms(bad))
    assert found.unproven is None
    assert found.raised == make.raised()


def test_findings_of_a_level_are_named_by_it_and_in_the_table() -> None:
    found = ledger(make.arms(make.eager(), make.chapter()))
    ids = [finding.id for finding in found.findings]
    assert len(ids) == len(set(ids))
    assert set(found.levels[3].findings) <= set(ids)
    assert {finding.slug for finding in found.findings} <= set(SLUGS)
    assert all(SLUGS[f.slug].level == f.level for f in found.findings)


def test_verdict_without_failure_names_what_is_missing() -> None:
    found = ledger(make.arms(make.eager(), make.healthy()))
    assert found.verdict == (
        "no level fails (CAPTURED, STABLE hold); RUNS not measured: it runs under "
        "backend='eager'; backend 'inductor' was not run"
    )


def test_arm_rows_keep_the_first_calls_and_count_all() -> None:
    arm = make.healthy(number=MOST_CALLS + 5, lost=(Lost("calls", "full", 2),), cpu_ns=3 * 10**9)
    (row,) = arm_rows(make.arms(arm))
    assert (len(row.calls), row.calls_total) == (MOST_CALLS, MOST_CALLS + 5)
    assert row.lost == ("calls: full (2 times)",)
    assert row.cpu_seconds == 3.0
    assert row.wall_seconds is None


def test_lost_evidence_is_a_note() -> None:
    arm = make.healthy(lost=(Lost("hook", "no slot", 3),), damage=(Lost("line 9", "cut off"),))
    (note,) = [f for f in ledger(make.arms(arm)).findings if f.slug == "lost-evidence"]
    assert (note.severity, note.count) == ("note", 4)


def test_recording_of_totals_fills_rows_from_counters() -> None:
    counters = Counters(
        at_ns=5000, regions=(RegionCalls(0, 40),), entries=(EntryRuns(0, "0/0", 40),)
    )
    found = ledger(make.arms(make.healthy("recorded", calls=(), counters=counters)))
    (region,) = found.regions
    assert region.calls == 40
    assert set(region.dispositions) == set(DISPOSITIONS)
    assert (region.dispositions["compiled"], region.dispositions["reused"]) == (1, 39)
    assert found.code_objects[0].cache_line[0].runs == 40
    assert found.levels[0].status == "not_measured"
    assert "no eager arm" in found.levels[1].why
    assert found.levels[3].status == "holds"


def test_entry_runs_are_summed_over_calls_with_either_kind_of_key() -> None:
    calls = make.calls("c..", runs={"0:0/0": 1}) + make.calls("..", runs={"0/0": 2})
    arm = make.healthy(calls=calls, compiles=(make.compile_at(0, compile_id="0/0"),))
    (row,) = ledger(make.arms(make.eager(), arm)).code_objects
    assert row.cache_line[0].runs == 7
    assert row.graph_runs == 7


def test_switched_off_code_object_has_its_row() -> None:
    off = make.compile_at(3, "switched_off", entries_before=1, why="no tensor operation")
    arm = make.healthy(calls=make.calls("c..ooo"), compiles=(make.compile_at(0), off))
    (row,) = ledger(make.arms(make.eager(), arm)).code_objects
    assert row.off is not None
    assert (row.off.by_call, row.off.why) == (3, "no tensor operation")


def test_facts_that_name_unknown_ids_do_not_crash() -> None:
    event = make.compile_at(0, code_object=9, region=8)
    arm = make.arm("capture", compiles=(event,), calls=make.calls("c....", 8))
    found = ledger(make.arms(make.eager(), arm))
    assert [row.id for row in found.regions] == [8]
    assert found.levels[2].status == "holds"


def test_words() -> None:
    assert count(1, "entry", "entries") == "1 entry"
    assert count(0, "call") == "0 calls"
    assert listed("abcdefgh", 3) == "a, b, c, ..."
    assert spans([7, 0, 1, 2, 5, 8]) == "0-2, 5, 7-8"
    assert [short_seconds(s) for s in (12.34, 0.45, 3e-5)] == ["12.3 s", "450 ms", "30.0 us"]


def totals(lookups: int | None) -> Ledger:
    """A recording of the chapter's stream in which calls were counted only."""
    chapter = make.chapter("recorded")
    counters = Counters(
        at_ns=1500,
        regions=(RegionCalls(0, 13),),
        entries=tuple(
            EntryRuns(0, f"0/{i}", 2 if i == 4 else 1) for i in range(len(chapter.compiles) - 1)
        ),
        lookups=lookups,
    )
    return ledger(make.arms(dataclasses.replace(chapter, calls=(), counters=counters)))


def test_totals_alone_show_the_silent_calls() -> None:
    found = totals(12)
    assert found.diagnosis is not None
    assert "at least 9 distinct lengths in 13 calls, 8 entries" in found.diagnosis.sentence
    assert "3 calls ran eagerly" in found.diagnosis.sentence
    (silent,) = [f for f in found.findings if f.slug == "silent-eager"]
    assert (silent.count, silent.cost.calls) == (3, 3)
    (region,) = found.regions
    assert {k: v for k, v in region.dispositions.items() if v} == {
        "compiled": 1,
        "recompiled": 7,
        "reused": 1,
        "refused": 1,
        "fell_back": 3,
    }
    assert found.levels[2].status == "holds"


def test_without_lookups_no_silent_call_is_claimed() -> None:
    found = totals(None)
    assert "silent-eager" not in {finding.slug for finding in found.findings}
    assert found.diagnosis is not None
    assert "recompile_limit (8) was hit at call 9" in found.diagnosis.sentence


def test_level_that_is_not_asked_is_not_unproven() -> None:
    capture = make.healthy(agreements=(make.agree(),))
    found = judge(make.arms(make.eager(), capture), make.EAGER_BACKEND, tool_version="0")
    assert [level.status for level in found.levels] == ["holds"] * 4 + ["not_measured"]
    assert found.unproven is None


def test_library_code_without_compiles_has_no_row() -> None:
    codes = (make.code(), make.code(1, "disable", library=True), make.code(2, "helper"))
    found = ledger(make.arms(make.healthy(code_objects=codes)))
    assert [row.id for row in found.code_objects] == [0, 2]


def test_level_that_is_not_resolved_is_unproven() -> None:
    shaky = (make.agree(status="differs"),)
    again = make.arm("eager_again", agreements=shaky)
    every = make.arms(make.eager(), again, make.healthy("correct", agreements=shaky))
    found = ledger(every)
    assert found.unproven is not None
    assert found.unproven.level == "CORRECT"
    assert "does not agree with itself" in found.unproven.why


def test_counted_call_with_several_misses_is_the_worst_of_them() -> None:
    refused = make.compile_at(0, "refused", "n == 3", code_object=1, limit="recompile_limit")
    counters = Counters(at_ns=5000, regions=(RegionCalls(0, 10),))
    arm = make.healthy("recorded", calls=(), counters=counters)
    arm = dataclasses.replace(arm, compiles=(*arm.compiles, refused))
    (region,) = ledger(make.arms(arm)).regions
    assert (region.dispositions["refused"], region.dispositions["compiled"]) == (1, 0)
