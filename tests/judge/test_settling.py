"""Compiling that ends, and compiling that goes on."""

from __future__ import annotations

import dataclasses

import pytest

from compile_ledger.facts.calls import Counters, RegionCalls
from compile_ledger.facts.compile import Symbol
from compile_ledger.judge.stable.level import judge_stable

from . import make
from .stable_arms import judged, recompiling, sizes


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
        assert "1 on a tensor size (x, axis 0: 4, 8)" in note.sentence
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
        assert "settled after 3 recompiles: 3 on a dtype (x: Float, Half)" in found.level.why

    def test_few_valued_key_at_every_call_of_the_tail_recurs(self) -> None:
        dtype = "tensor 'x' dtype mismatch. expected Float, actual Half"
        assert judged(recompiling("c.rrr", dtype)).fails

    def test_first_recompile_of_a_key_in_the_tail_is_too_late_to_tell(self) -> None:
        found = judged(recompiling("c.......r.", *sizes(1)))
        assert found.level.status == "not_measured"
        assert "recompiled at call 8 of 10 on a tensor size (x, axis 0: 4, 5)" in found.level.why

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
        ("reason", "slug", "subject", "words"),
        [
            (
                "s == 'a'  # use(s)  # app.py:4 in f",
                "constant-str",
                "s",
                "a string: s, expected 'a'",
            ),
            ("self.k == 3", "constant-int", "self.k", "a Python int: self.k, expected 3"),
            ("len(past) == 2", "length", "past", "a container's length: past, expected 2"),
            (
                "___check_type_id(self, 7), type=<class 'Cell_0'>",
                "type",
                "self",
                "a Python type: self, expected Cell_0",
            ),
        ],
    )
    def test_other_guards_fail_by_their_kind(
        self, reason: str, slug: str, subject: str, words: str
    ) -> None:
        (finding,) = judged(recompiling("crrrrr", reason)).findings
        assert (finding.slug, finding.subject) == (f"recompile-{slug}", subject)
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
        assert "in torch's wrapper of encode, torch/_dynamo/external_utils.py:67, entered by" in (
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

    def test_a_line_that_is_empty_at_each_call_fails_though_nothing_was_recompiled(self) -> None:
        events = tuple(make.compile_at(i, compile_id=f"{i}/0") for i in range(9))
        kept_apart = judged(make.healthy(calls=make.calls("c" * 9), compiles=events))
        assert "encode is compiled again from an empty cache line: 9 compiles" in (
            kept_apart.level.why
        )
        counters = Counters(9, (RegionCalls(0, 9),))
        counted = judged(make.healthy("recorded", calls=(), counters=counters, compiles=events))
        assert [f.slug for f in counted.findings if f.severity == "failure"] == ["line-cleared"]

    def test_a_line_that_was_cleared_while_warming_up_settles(self) -> None:
        events = tuple(make.compile_at(i, compile_id=f"{i}/0") for i in range(5))
        arm = make.healthy(calls=make.calls("ccccc" + "." * 10), compiles=events)
        assert not judged(arm).fails

    def test_several_functions_of_one_region_are_not_fresh_code(self) -> None:
        codes = tuple(make.code(i, f"part{i}", line=i) for i in range(8))
        events = tuple(make.compile_at(0, code_object=i) for i in range(8))
        assert judged(make.healthy(code_objects=codes, compiles=events)).level.status == "holds"


def test_recompiles_under_the_own_backend_are_said_beside_a_settled_capture() -> None:
    symbols = (Symbol("zf0", "L['n']", "2.0"),)
    capture = make.healthy("capture", number=9)
    capture = dataclasses.replace(
        capture, compiles=tuple(dataclasses.replace(c, symbols=symbols) for c in capture.compiles)
    )
    correct = make.healthy("correct", calls=make.calls("crrrr"), status="stopped")
    found = judge_stable({"capture": capture, "correct": correct}, make.INDUCTOR)
    assert found.level.status == "not_measured"
    assert "and it did: 4 recompiles in the 5 calls of the correct arm, 0" in found.level.why
