"""Level 4: settling, recurring, limits, silent calls, code objects switched off."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import pytest

from compile_ledger.facts.arm import Arm
from compile_ledger.facts.calls import Call, Counters, RegionCalls
from compile_ledger.facts.compile import Compile, MissOutcome, Symbol
from compile_ledger.judge.choose import Arms
from compile_ledger.judge.judged import Judged
from compile_ledger.judge.stable.level import judge_stable

from . import make
from .stable_arms import judged, recompiling, sizes


def limited(code: int = 0, **fields: Any) -> Compile:
    """A refusal at the limit of 8."""
    given = {"limit": "recompile_limit", "limit_value": 8, "code_object": code}
    return make.compile_at(0, "refused", **{**given, "entries_before": 8, **fields})


class TestLimits:
    def test_cause_comes_before_limit_and_silent_calls(self) -> None:
        found = judged(make.chapter())
        assert [f.slug for f in found.findings] == [
            "recompile-shape",
            "cache-limit",
            "silent-eager",
        ]
        limit = found.findings[1]
        assert "recompile_limit (8) was hit on encode at call 9, with 8 entries" in limit.sentence

    def test_constants_count_one_value_more_than_the_entries_name(self) -> None:
        events = [make.compile_at(0)]
        for call in range(1, 9):
            texts = [f"0/{i}: n == {i + 4}" for i in range(call)]
            extra = {"limit": "recompile_limit", "limit_value": 8} if call == 8 else {}
            outcome: MissOutcome = "refused" if call == 8 else "recompiled"
            events.append(make.compile_at(call, outcome, *texts, **extra))
        arm = make.healthy(calls=make.calls("crrrrrrrx.."), compiles=tuple(events))
        (guard, _) = judged(arm).findings
        assert guard.slug == "recompile-constant-int"
        assert "9 distinct values in 11 calls, 8 entries" in guard.sentence

    def test_limit_without_reasons_still_fails(self) -> None:
        arm = make.healthy(calls=make.calls("cx.."), compiles=(make.compile_at(0), limited()))
        found = judged(arm)
        assert [f.slug for f in found.findings] == ["cache-limit"]

    def test_limit_fails_however_short_the_stream(self) -> None:
        arm = make.healthy(calls=make.calls("x"), compiles=(limited(),))
        assert judged(arm).fails

    def test_unrelated_regions_that_fill_one_line_fail_as_shared_line(self) -> None:
        found = judged(shared(12))
        assert found.findings[0].slug == "shared-line"
        assert found.findings[0].severity == "failure"
        assert "12 regions" in found.level.why
        assert "8 entries, recompile_limit (8) was reached" in found.level.why
        silent = [f for f in found.findings if f.slug == "silent-eager"]
        assert sum(f.cost.calls or 0 for f in silent) == 3

    def test_unrelated_regions_below_the_limit_are_a_note(self) -> None:
        found = judged(shared(6))
        assert found.level.status == "not_measured"
        assert [(f.slug, f.severity) for f in found.findings] == [("shared-line", "note")]

    def test_one_function_wrapped_anew_at_each_call_is_one_stream(self) -> None:
        regions = tuple(make.region(i) for i in range(6))
        calls = tuple(
            c for i in range(6) for c in make.calls("r" if i else "c", i, start_ns=1000 * i)
        )
        events = tuple(
            make.compile_at(
                0,
                "recompiled" if i else "compiled",
                *([make.size("x", 0, 3 + i, 4 + i)] if i else []),
                region=i,
                started_ns=1000 * i + 101,
            )
            for i in range(6)
        )
        found = judged(make.healthy(regions=regions, calls=calls, compiles=events))
        assert found.fails
        assert found.findings[0].slug == "recompile-shape"
        assert "in 6 calls" in found.level.why

    def test_silent_calls_without_a_limit_seen_fail(self) -> None:
        arm = make.healthy(calls=make.calls("c..ff."))
        (finding,) = judged(arm).findings
        assert (finding.slug, finding.cost.calls) == ("silent-eager", 2)
        assert "calls 3-4" in finding.sentence


_OUTCOMES: dict[str, MissOutcome] = {"c": "compiled", "r": "recompiled", "x": "refused"}


def shared(regions: int) -> Arm:
    """Library modules of different classes, one call each, on one code object."""
    made = tuple(make.region(i, f"torch.nn.Kind{i}", kind="module") for i in range(regions))
    events: list[Compile] = []
    calls: list[Call] = []
    for i in range(regions):
        letter = "c" if i == 0 else "r" if i < 8 else "x" if i == 8 else "f"
        calls += make.calls(letter, i, start_ns=1000 * i)
        outcome = _OUTCOMES.get(letter)
        if outcome:
            texts = [f"___check_type_id(fn, {e})" for e in range(min(i, 8))]
            more = {"limit": "recompile_limit", "limit_value": 8} if outcome == "refused" else {}
            events.append(
                make.compile_at(0, outcome, *texts, region=i, started_ns=1000 * i + 101, **more)
            )
    shim = make.code(0, "inner", file="torch/_dynamo/external_utils.py", line=67, library=True)
    return make.healthy(
        regions=made, code_objects=(shim,), calls=tuple(calls), compiles=tuple(events)
    )


class TestSwitchedOff:
    def off(self, pattern: str = "c..oooooo", **fields: Any) -> Arm:
        call = next(i for i, letter in enumerate(pattern) if letter in "o!")
        given = {"outcome": "switched_off", "graph_ops": 0, **fields}
        event = make.compile_at(call, given.pop("outcome"), "self.bypass == False", **given)
        return make.healthy(calls=make.calls(pattern), compiles=(make.compile_at(0), event))

    def test_off_after_entries_fails_by_which_call_and_how_many_after(self) -> None:
        found = judged(self.off())
        (finding,) = found.findings
        assert finding.slug == "switched-off"
        assert "encode was switched off for good by call 3" in finding.sentence
        assert "when it was traced anew, it held no tensor operation" in finding.sentence
        assert finding.cost.calls == 5
        assert "calls 4-8" in finding.sentence

    def test_call_that_raised_can_switch_off(self) -> None:
        arm = self.off("c..!sss", outcome="raised", raised=make.raised("ValueError"))
        (finding,) = judged(arm).findings
        assert "its new trace raised ValueError" in finding.sentence
        assert finding.cost.calls == 3

    def test_call_that_raised_and_left_the_line_alone_is_no_failure(self) -> None:
        arm = self.off("c..!....", outcome="raised", raised=make.raised("ValueError"))
        assert judged(arm).level.status == "holds"

    def test_off_by_the_first_call_belongs_to_captured(self) -> None:
        arm = make.healthy(
            calls=make.calls("oooooo"), compiles=(make.compile_at(0, "switched_off"),)
        )
        assert not judged(arm).fails


class TestWhichArmDecides:
    def symbolic(self, **fields: Any) -> Arm:
        event = make.compile_at(1, "recompiled", *sizes(1), symbols=(Symbol("s0", "x[0]", "4"),))
        base = {"calls": make.calls("cr......."), "compiles": (make.compile_at(0), event)}
        return make.healthy(**{**base, **fields})

    def judged(self, *every: Arm) -> Judged:
        return judge_stable(make.arms(*every), make.INDUCTOR)

    def test_capture_with_symbols_is_a_lower_bound_for_inductor(self) -> None:
        found = self.judged(self.symbolic())
        assert found.level.status == "not_measured"
        assert "a lower bound when a dimension or float is symbolic" in found.level.why
        assert found.command == "compile-ledger audit --full serve.py"
        assert [f.slug for f in found.findings] == ["settled"]

    def test_after_quick_the_default_depth_is_offered_which_runs_the_backend(self) -> None:
        quick = dataclasses.replace(make.INDUCTOR, depth="quick")
        found = judge_stable(make.arms(self.symbolic()), quick)
        assert found.command == "compile-ledger audit serve.py"

    def test_capture_with_symbols_is_enough_for_the_eager_backend(self) -> None:
        assert judged(self.symbolic()).level.status == "holds"

    def test_capture_without_symbols_is_enough_for_inductor(self) -> None:
        assert self.judged(make.healthy()).level.status == "holds"

    def test_failure_under_capture_needs_no_other_arm(self) -> None:
        assert self.judged(make.chapter()).fails

    def test_cold_decides_and_the_capture_arm_is_named_where_they_differ(self) -> None:
        found = self.judged(make.healthy(), make.chapter("cold"))
        assert found.fails
        assert "cold arm; under backend='eager' it does not fail" in found.level.why

    def test_cold_that_holds_beside_a_failing_capture_holds_and_says_so(self) -> None:
        found = self.judged(make.chapter(), make.healthy("cold"))
        assert found.level.status == "holds"
        assert "under backend='eager' it fails" in found.level.why

    def test_correct_arm_that_was_stopped_does_not_decide(self) -> None:
        stopped = make.healthy("correct", number=8, status="stopped")
        found = self.judged(self.symbolic(), stopped)
        assert "a lower bound" in found.level.why

    def test_correct_arm_that_finished_confirms_capture(self) -> None:
        found = self.judged(self.symbolic(), self.symbolic(name="correct"))
        assert found.level.status == "holds"

    def test_arm_that_was_killed_is_no_proof_of_holding(self) -> None:
        found = self.judged(make.healthy(status="timed_out", why="60 s"))
        assert found.level.status == "not_measured"
        assert "60 s" in found.level.why

    def test_arm_that_was_killed_after_the_limit_still_fails(self) -> None:
        assert self.judged(make.chapter(status="killed")).fails

    @pytest.mark.parametrize("every", [{}, make.arms(make.eager())])
    def test_no_compiled_arm_is_not_measured(self, every: Arms) -> None:
        found = judge_stable(every, make.INDUCTOR)
        assert found.level.status == "not_measured"


class TestRecorded:
    def recorded(self, events: Sequence[Compile], calls: int) -> Arm:
        counters = Counters(at_ns=100 * (calls + 1), regions=(RegionCalls(0, calls),))
        unknown = tuple(dataclasses.replace(event, call=None) for event in events)
        return make.healthy("recorded", calls=(), compiles=unknown, counters=counters)

    def test_counted_calls_place_compiles_by_time(self) -> None:
        early = recompiling("cr........", *sizes(1)).compiles
        late = recompiling("cr.....rrr", *sizes(4)).compiles
        assert judged(self.recorded(early, 10)).level.status == "holds"
        assert judged(self.recorded(late, 10)).fails

    def test_recording_that_never_ended_can_still_hold(self) -> None:
        arm = self.recorded([make.compile_at(0)], 50)
        assert judged(dataclasses.replace(arm, status="killed")).level.status == "holds"


def test_calls_of_one_function_wrapped_twice_are_put_in_order_of_time() -> None:
    early = make.compile_at(0, "recompiled", *sizes(1), region=1, started_ns=51)
    arm = make.healthy(
        regions=(make.region(), make.region(1)),
        calls=(*make.calls("c.........", start_ns=1000), *make.calls("r", 1, start_ns=-50)),
        compiles=(make.compile_at(0, started_ns=1101), early),
    )
    assert judged(arm).level.status == "holds"


def test_one_region_that_fills_a_line_it_shares_is_its_own_cause() -> None:
    chapter = make.chapter()
    other = make.compile_at(0, "recompiled", "idx is None", region=1, started_ns=5000)
    arm = dataclasses.replace(
        chapter,
        regions=(make.region(), make.region(1, "other")),
        compiles=(*chapter.compiles, other),
        calls=(*chapter.calls, *make.calls("r", 1, start_ns=4900)),
    )
    assert judged(arm).findings[0].slug == "recompile-shape"


def test_a_frame_switched_off_in_its_first_call_is_not_stable() -> None:
    off = make.healthy(
        "cold", calls=make.calls("oooooo"), compiles=(make.compile_at(0, "switched_off"),)
    )
    found = judge_stable(make.arms(off), make.INDUCTOR)
    assert (found.level.status, found.level.why) == ("not_measured", "nothing was captured")
