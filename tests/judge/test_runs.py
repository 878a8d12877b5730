"""Level 1: exceptions of eager and compiled arms."""

from __future__ import annotations

import dataclasses

import pytest

from compile_ledger.facts.arm import Arm, ArmStatus, Toolchain
from compile_ledger.facts.contract import Contract
from compile_ledger.facts.place import Raised
from compile_ledger.judge.runs.level import judge_runs

from . import make

OK = make.healthy("correct")


def raising(name: str, call: int, kind: str = "ValueError", *, uncaught: bool = True) -> Arm:
    """An arm in which one call raises; ``uncaught``: and the program ends by it."""
    what = make.raised(kind)
    calls = list(make.calls("c" + "." * 5))
    calls[call] = dataclasses.replace(calls[call], disposition="raised", raised=what)
    if not uncaught:
        return make.healthy(name, calls=tuple(calls))
    return make.healthy(name, calls=tuple(calls[: call + 1]), status="raised", raised=what)


def eager_raising(call: int, kind: str = "ValueError") -> Arm:
    """Eager, with one call whose exception the program handles."""
    calls = list(make.eager_calls(6))
    calls[call] = dataclasses.replace(calls[call], raised=make.raised(kind))
    return make.eager(calls=tuple(calls))


def test_eager_raises_is_an_ordinary_bug_with_exception_and_line() -> None:
    bad = make.eager(status="raised", raised=make.raised(message="shape 3"))
    found = judge_runs(make.arms(bad, make.healthy()), make.INDUCTOR)
    assert found.fails
    (finding,) = found.findings
    assert finding.slug == "eager-raises"
    assert finding.sentence.startswith("an ordinary bug: eager raises too")
    assert "ValueError: shape 3 at serve.py:7" in finding.sentence
    assert finding.site == make.raised().place


def test_eager_raises_says_when_compiled_raises_another_type() -> None:
    bad = make.eager(status="raised", raised=make.raised("IndexError"))
    found = judge_runs(make.arms(bad, raising("capture", 0, "RuntimeError")), make.INDUCTOR)
    assert "compiled raises RuntimeError instead" in found.level.why


def test_capture_raising_blames_the_dynamo_stage() -> None:
    every = make.arms(make.eager(6), raising("capture", 2), raising("correct", 2))
    found = judge_runs(every, make.INDUCTOR)
    (finding,) = found.findings
    assert finding.slug == "compiled-raises"
    assert "in call 2, in the Dynamo capture stage" in finding.sentence
    assert (finding.expected, finding.actual) == ("no exception", "ValueError")
    assert finding.site == make.raised().place


def test_own_backend_alone_raising_blames_the_backend_stage() -> None:
    every = make.arms(make.eager(6), make.healthy(number=6), raising("correct", 0))
    found = judge_runs(every, make.INDUCTOR)
    assert "in the backend stage (inductor; backend='eager' does not raise)" in found.level.why


def test_exception_outside_any_call_counts() -> None:
    bad = make.healthy("cold", number=6, status="raised", raised=make.raised("MemoryError"))
    found = judge_runs(make.arms(make.eager(6), make.healthy(number=6), bad), make.INDUCTOR)
    assert [f.slug for f in found.findings] == ["compiled-raises"]
    assert "MemoryError" in found.level.why


def test_lost_exception_fails() -> None:
    every = make.arms(eager_raising(3), make.healthy(number=6), make.healthy("correct", 6))
    found = judge_runs(every, make.INDUCTOR)
    (finding,) = found.findings
    assert finding.slug == "exception-lost"
    assert "in call 3" in finding.sentence
    assert finding.actual == "no exception"


def test_handled_exception_of_the_same_type_in_both_holds() -> None:
    same = raising("correct", 3, uncaught=False)
    found = judge_runs(make.arms(eager_raising(3), same), make.INDUCTOR)
    assert found.level.status == "holds"


def test_handled_exception_of_another_type_fails() -> None:
    other = raising("correct", 3, "torch.RuntimeError", uncaught=False)
    found = judge_runs(make.arms(eager_raising(3, "IndexError"), other), make.INDUCTOR)
    assert found.fails
    assert "eager raises IndexError, compiled code raises RuntimeError" in found.level.why


def test_missing_compiler_fails_for_inductor_with_the_remedy() -> None:
    capture = make.healthy(toolchain=Toolchain("missing", "searched g++"))
    found = judge_runs(make.arms(make.eager(), capture), make.INDUCTOR)
    (finding,) = found.findings
    assert finding.slug == "toolchain-missing"
    assert "searched g++" in finding.sentence
    assert "CXX" in finding.sentence


def test_missing_compiler_does_not_matter_to_the_eager_backend() -> None:
    capture = make.healthy(toolchain=Toolchain("missing"))
    found = judge_runs(make.arms(make.eager(), capture), make.EAGER_BACKEND)
    assert found.level.status == "holds"


@pytest.mark.parametrize(("status", "word"), [("killed", "was killed"), ("timed_out", "timed out")])
def test_arm_that_did_not_end_is_not_measured(status: ArmStatus, word: str) -> None:
    capture = make.healthy(status=status, why="60 s")
    found = judge_runs(make.arms(make.eager(), capture), make.INDUCTOR)
    assert found.level.status == "not_measured"
    assert f"the capture arm {word}: 60 s" in found.level.why


def test_eager_that_timed_out_is_not_measured() -> None:
    found = judge_runs(make.arms(make.eager(status="timed_out"), OK), make.INDUCTOR)
    assert found.level.status == "not_measured"
    assert "the eager arm timed out" in found.level.why


def test_capture_alone_does_not_show_that_inductor_runs() -> None:
    found = judge_runs(make.arms(make.eager(), make.healthy()), make.INDUCTOR)
    assert found.level.status == "not_measured"
    assert "backend 'inductor' was not run" in found.level.why
    assert found.command == "compile-ledger audit serve.py"


def test_capture_is_own_code_when_the_backend_is_eager() -> None:
    found = judge_runs(make.arms(make.eager(), make.healthy()), make.EAGER_BACKEND)
    assert found.level.status == "holds"


def test_own_backend_finished_holds() -> None:
    found = judge_runs(make.arms(make.eager(), make.healthy(), OK), make.INDUCTOR)
    assert found.level.status == "holds"


def test_recording_has_no_eager_side() -> None:
    found = judge_runs(make.arms(make.healthy("recorded")), Contract(kind="recording"))
    assert found.level.status == "not_measured"
    assert "no eager arm" in found.level.why


def test_uncaught_exception_of_another_type_is_one_finding() -> None:
    other = raising("correct", 3, "RuntimeError")
    found = judge_runs(make.arms(eager_raising(3, "IndexError"), other), make.INDUCTOR)
    (finding,) = found.findings
    assert (finding.expected, finding.actual) == ("IndexError", "RuntimeError")


@pytest.mark.parametrize(
    ("said", "remedy"),
    [
        ("InvalidCxxCompiler: No working C++ compiler found", "install g++"),
        ("CppCompileError: fatal error: Python.h: No such file or directory", "python3-dev"),
    ],
)
def test_compiled_arm_that_cannot_build_names_the_machine_and_the_remedy(
    said: str, remedy: str
) -> None:
    raised = Raised("torch._inductor.exc.InductorError", said)
    cold = make.arm("cold", regions=(make.region(),), status="raised", raised=raised)
    found = judge_runs(make.arms(make.eager(), cold), make.INDUCTOR)
    assert found.fails
    assert found.findings[0].slug == "toolchain-missing"
    assert remedy in found.findings[0].sentence


def test_ladder_names_the_first_stage_that_raises() -> None:
    raised = make.raised("ValueError")
    own = make.healthy("cold", status="raised", raised=raised)
    quiet = make.healthy("capture")
    rung = make.healthy("ladder:aot_eager", status="raised", raised=raised)
    found = judge_runs(make.arms(make.eager(), quiet, own, rung), make.INDUCTOR)
    assert "in the AOTAutograd stage (backend='aot_eager' raises too" in found.level.why
    calm = make.healthy("ladder:aot_eager_decomp_partition")
    found = judge_runs(make.arms(make.eager(), quiet, own, calm), make.INDUCTOR)
    assert "backend='aot_eager_decomp_partition' does not raise" in found.level.why


def test_quick_depth_answers_for_the_captured_graphs() -> None:
    quick = dataclasses.replace(make.INDUCTOR, depth="quick")
    found = judge_runs(make.arms(make.eager(), make.healthy("capture")), quick)
    assert found.level.status == "holds"
    assert found.level.why.endswith("backend 'inductor' was not asked for code (--quick)")
