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
from compile_ledger.judge.stable import judge_stable

from . import make


def judged(*every: Arm) -> Judged:
    return judge_stable(make.arms(*every), make.EAGER_BACKEND)


def recompiling(pattern: str, *reasons: str, **fields: Any) -> Arm:
    """An arm whose ``r`` calls recompile for the given reasons in turn (the last repeats)."""
    events = []
    for call, letter in enumerate(pattern):
        if letter == "c":
            events.append(make.compile_at(call))
        elif letter == "r":
            number = min(len(events), len(reasons)) - 1
            events.append(make.compile_at(call, "recompiled", f"0/0: {reasons[number]}"))
    return make.healthy(**{"calls": make.calls(pattern), "compiles": tuple(events), **fields})


def sizes(count: int, start: int = 4) -> list[str]:
    return [make.size("x", 0, start + i, start + i + 1) for i in range(count)]


class TestSettling:
    def test_no_recompile_holds(self) -> None:
        found = judged(make.healthy())
        assert found.level.status == "holds"
        assert found.level.why == "1 compile, no recompile in 13 calls"
        assert found.findings == ()

    def test_recompiles_before_the_tail_settle_with_causes_and_cost(self) -> None:
        calls = make.calls("crr......", cpu_ns=1_000_000)
        dear = [dataclasses.replace(c, cpu_ns=2_001_000_000) for c in calls[1:3]]
        arm = recompiling(
            "crr......",
            make.size("x", 0, 4, 8),
            "GLOBAL_STATE changed: grad_mode",
            calls=(calls[0], *dear, *calls[3:]),
        )
        found = judged(arm)
        assert found.level.status == "holds"
        (note,) = found.findings
        assert (note.slug, note.severity, note.count) == ("settled", "note", 2)
        assert "settled after 2 recompiles" in note.sentence
        assert "1 on a tensor size (x, axis 0)" in note.sentence
        assert "1 on a global state of torch (grad_mode)" in note.sentence
        assert note.cost.seconds == pytest.approx(4.0)
        assert found.level.why == note.sentence

    def test_recompile_just_before_the_tail_settles(self) -> None:
        assert judged(recompiling("cr....r...", *sizes(3))).level.status == "fails"
        assert judged(recompiling("cr...r....", *sizes(3))).level.status == "holds"

    def test_few_valued_key_in_the_tail_settles(self) -> None:
        dtype = "tensor 'x' dtype mismatch. expected Float, actual Half"
        found = judged(recompiling("cr.rr.", dtype))
        assert found.level.status == "holds"
        assert "settled after 3 recompiles: 3 on a dtype (x)" in found.level.why

    def test_few_valued_key_at_every_call_of_the_tail_recurs(self) -> None:
        dtype = "tensor 'x' dtype mismatch. expected Float, actual Half"
        assert judged(recompiling("c.rrr", dtype)).fails

    def test_first_recompile_of_a_key_in_the_tail_is_too_late_to_tell(self) -> None:
        found = judged(recompiling("c.......r.", *sizes(1)))
        assert found.level.status == "not_measured"
        assert "a recompile at call 8, in the tail of the stream" in found.level.why

    @pytest.mark.parametrize(("pattern", "status"), [("cr.", "not_measured"), ("c...", "holds")])
    def test_fewer_than_four_calls_cannot_tell(self, pattern: str, status: str) -> None:
        found = judged(recompiling(pattern, *sizes(1)))
        assert found.level.status == status

    def test_short_region_beside_a_long_one_is_said(self) -> None:
        arm = make.healthy(
            regions=(make.region(), make.region(1, "once", root=1)),
            code_objects=(make.code(), make.code(1, "once")),
            calls=(*make.calls("c....."), *make.calls("c", 1)),
        )
        found = judged(arm)
        assert found.level.status == "holds"
        assert "1 region called too seldom to tell" in found.level.why


class TestRecurring:
    def test_size_that_recompiles_in_the_tail_fails_by_shape(self) -> None:
        found = judged(recompiling("crrrrr", *sizes(5)))
        (finding,) = found.findings
        assert found.fails
        assert (finding.slug, finding.subject, finding.axis) == ("recompile-shape", "x", 0)
        assert (finding.expected, finding.actual) == ("4", "5")
        assert "6 distinct lengths in 6 calls, 6 entries" in finding.sentence
        assert "still compiling: 3 recompiles in the last 3 calls" in finding.sentence
        assert finding.site == make.SITE

    @pytest.mark.parametrize(
        ("reason", "subject", "words"),
        [
            ("s == 'a'  # use(s)  # app.py:4 in f", "s", "a string: s, expected 'a'"),
            ("self.k == 3", "self.k", "a Python int: self.k, expected 3"),
            ("len(past) == 2", "past", "a container's length: past, expected 2"),
            (
                "___check_type_id(self, 7), type=<class 'Cell_0'>",
                "self",
                "a Python type: self, expected <class 'Cell_0'>",
            ),
        ],
    )
    def test_other_guards_fail_by_guard(self, reason: str, subject: str, words: str) -> None:
        (finding,) = judged(recompiling("crrrrr", reason)).findings
        assert (finding.slug, finding.subject) == ("recompile-guard", subject)
        assert f"recompiles on {words}" in finding.sentence

    def test_recompiles_without_a_reason_still_fail(self) -> None:
        events = [make.compile_at(0)]
        events += [make.compile_at(i, "recompiled", entries_before=i) for i in range(1, 6)]
        arm = make.healthy(calls=make.calls("crrrrr"), compiles=tuple(events))
        (finding,) = judged(arm).findings
        assert "no reason was given" in finding.sentence

    def test_most_named_cause_of_a_compile_is_its_cause(self) -> None:
        flag = "flag == True"
        events = [make.compile_at(0)]
        for call in range(1, 6):
            texts = [make.size("x", 0, e, call + 4) for e in range(4, 4 + call)]
            events.append(
                make.compile_at(call, "recompiled", flag, *texts, make.size("x", 0, 3, 9))
            )
        arm = make.healthy(calls=make.calls("crrrrr"), compiles=tuple(events))
        assert judged(arm).findings[0].subject == "x"

    def test_module_wrapper_frame_keeps_its_subject_and_names_the_users_site(self) -> None:
        shim = make.code(0, "inner", file="torch/_dynamo/external_utils.py", line=67, library=True)
        reasons = [make.size("args[0]", 0, 4 + i, 5 + i) for i in range(5)]
        (finding,) = judged(recompiling("crrrrr", *reasons, code_objects=(shim,))).findings
        assert finding.subject == "args[0]"
        assert finding.site == make.SITE
        assert "frame inner, torch/_dynamo/external_utils.py:67, entered by torch.compile" in (
            finding.sentence
        )

    def test_fresh_code_object_at_each_call_fails_though_no_guard_failed(self) -> None:
        codes = tuple(make.code(i, "loss", file=f"<loss {i}>", line=1) for i in range(12))
        regions = tuple(make.region(i, "loss", root=i) for i in range(12))
        arm = make.healthy(
            regions=regions,
            code_objects=codes,
            calls=tuple(c for i in range(12) for c in make.calls("c", i, start_ns=1000 * i)),
            compiles=tuple(
                make.compile_at(0, code_object=i, region=i, started_ns=1000 * i + 101)
                for i in range(12)
            ),
        )
        found = judged(arm)
        assert found.fails
        assert "12 compiles of one source line in 12 calls" in found.level.why

    def test_several_functions_of_one_region_are_not_fresh_code(self) -> None:
        codes = tuple(make.code(i, f"part{i}", line=i) for i in range(8))
        events = tuple(make.compile_at(0, code_object=i) for i in range(8))
        assert judged(make.healthy(code_objects=codes, compiles=events)).level.status == "holds"


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
        assert guard.slug == "recompile-guard"
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
