"""The program's own stances: what they refused, what they ran eagerly, at which line."""

from __future__ import annotations

import dataclasses
from typing import Any

from compile_ledger.facts.arm import Arm
from compile_ledger.facts.calls import Counters, RegionCalls, StanceUse
from compile_ledger.facts.place import Place, Raised
from compile_ledger.judge.captured.level import judge_captured
from compile_ledger.judge.runs.level import judge_runs
from compile_ledger.judge.stable.level import judge_stable

from . import make

SET = Place("helper.py", 3)
REASON = make.size("idx", 1, 32, 48, "0/0")


def under(name: str, calls: int, silent: int | None = 0, **fields: Any) -> Counters:
    """Totals in which region 0 was called under a stance."""
    use = StanceUse(name, SET, (RegionCalls(0, calls),), silent)
    return Counters(0, (RegionCalls(0, 6),), stances=(dataclasses.replace(use, **fields),))


def refused(*, handled: bool) -> Arm:
    """Call 4 of 6 raises by ``fail_on_recompile``."""
    what = Raised("RuntimeError", "Detected recompile when stance is 'fail_on_recompile'.")
    calls = list(make.calls("c...!."))
    calls[4] = dataclasses.replace(calls[4], raised=what, stance="fail_on_recompile")
    event = make.compile_at(4, "raised", REASON, stance="fail_on_recompile", compile_id="")
    end: dict[str, Any] = {} if handled else {"status": "raised", "raised": what}
    return make.healthy(
        calls=tuple(calls if handled else calls[:5]),
        compiles=(make.compile_at(0), event),
        counters=under("fail_on_recompile", 3),
        **end,
    )


def test_a_call_that_the_stance_refused_and_the_program_handled_is_a_failure_of_stable() -> None:
    every = make.arms(make.eager(6), refused(handled=True))
    assert judge_runs(every, make.EAGER_BACKEND).level.status == "holds"
    found = judge_stable(every, make.EAGER_BACKEND)
    (finding,) = found.findings
    assert finding.slug == "stance-refused"
    assert finding.sentence == (
        "call 4 refused by stance fail_on_recompile: "
        "idx size[1] expected 32, actual 48 (set at helper.py:3)"
    )
    assert (finding.site, finding.axis, finding.actual) == (SET, 1, "48")


def test_a_refused_call_that_ends_the_program_is_a_failure_of_runs() -> None:
    found = judge_runs(make.arms(make.eager(6), refused(handled=False)), make.EAGER_BACKEND)
    (finding,) = found.findings
    assert (finding.slug, finding.level) == ("stance-refused", "RUNS")
    assert "call 4 refused by stance fail_on_recompile: idx size[1]" in finding.sentence
    assert "does not handle the exception" in finding.sentence


def test_calls_that_eager_on_recompile_ran_eagerly_are_not_called_silent() -> None:
    calls = [
        dataclasses.replace(
            call,
            stance="eager_on_recompile",
            refused_by=(make.size("idx", 1, 32, 40 + call.index, "0/0"),),
        )
        if call.disposition == "fell_back"
        else call
        for call in make.calls("c.ff.f")
    ]
    arm = make.healthy(calls=tuple(calls), counters=under("eager_on_recompile", 5))
    found = judge_stable(make.arms(make.eager(6), arm), make.EAGER_BACKEND)
    (finding,) = found.findings
    assert finding.slug == "stance-eager"
    assert finding.sentence == (
        "3 of 6 calls of encode (2-3, 5) ran eagerly by stance eager_on_recompile: "
        "idx size[1] expected 32, actual 42, 43, 45 (set at helper.py:3)"
    )


def test_a_recording_tells_them_by_its_totals() -> None:
    counters = under("eager_on_recompile", 5, 3, refused=((REASON,),))
    arm = make.healthy("recorded", calls=(), counters=dataclasses.replace(counters, silent=3))
    found = judge_stable(make.arms(arm), make.EAGER_BACKEND)
    assert [f.slug for f in found.findings if f.severity == "failure"] == ["stance-eager"]
    assert "3 of 6 calls of encode ran eagerly by stance" in found.findings[0].sentence


def test_a_region_that_only_ran_under_force_eager_is_not_captured_by_request() -> None:
    calls = (dataclasses.replace(c, stance="force_eager") for c in make.calls("ssssss"))
    arm = make.arm(
        "capture",
        regions=(make.region(root=None),),
        calls=tuple(calls),
        counters=under("force_eager", 6),
    )
    found = judge_captured(make.arms(make.eager(6), arm), make.EAGER_BACKEND)
    (finding,) = found.findings
    assert finding.slug == "forced-eager"
    assert "they ran eagerly by stance force_eager (set at helper.py:3)" in finding.sentence


def test_some_calls_under_force_eager_are_a_note() -> None:
    calls = tuple(
        dataclasses.replace(c, stance="force_eager") if c.disposition == "skipped" else c
        for c in make.calls("c...ss")
    )
    arm = make.healthy(calls=calls, counters=under("force_eager", 2))
    found = judge_stable(make.arms(make.eager(6), arm), make.EAGER_BACKEND)
    assert found.level.status == "holds"
    note = next(f for f in found.findings if f.slug == "forced-eager")
    assert note.sentence.startswith("2 of 6 calls of encode ran eagerly by stance force_eager")
