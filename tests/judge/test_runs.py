"""Level 1: exceptions of eager and compiled arms."""

from __future__ import annotations

import dataclasses

import pytest

from compile_ledger.facts.arm import Arm, ArmStatus, MissedState, Toolchain
from compile_ledger.facts.contract import Contract
from compile_ledger.facts.place import Place, Raised
from compile_ledger.judge.choose import deciding_capture
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
    plain = make.arm("plain", status="raised", raised=make.raised(message="shape 3"))
    found = judge_runs(make.arms(bad, plain), make.INDUCTOR)
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


def test_what_raises_only_with_torch_compile_is_no_ordinary_bug() -> None:
    missing = make.raised("RuntimeError", 'Unexpected key(s) in state_dict: "_orig_mod.weight"')
    bad = make.eager(status="raised", raised=missing)
    found = judge_runs(make.arms(bad, make.arm("plain")), make.INDUCTOR)
    (finding,) = found.findings
    assert finding.slug == "wrapper-visible"
    assert "raises only with torch.compile" in finding.sentence
    assert "begin with _orig_mod." in finding.sentence
    assert finding.site == missing.place


def test_a_program_that_asks_for_the_wrapper_shows_nothing_without_it() -> None:
    bad = make.eager(status="raised", raised=make.raised())
    asks = make.raised("AttributeError", "'Linear' object has no attribute '_orig_mod'")
    plain = make.arm("plain", status="raised", raised=asks)
    found = judge_runs(make.arms(bad, plain), make.INDUCTOR)
    assert "an ordinary bug" not in found.level.why
    assert "without torch.compile it cannot run" in found.level.why


def test_an_exit_status_that_only_torch_compile_brings_fails() -> None:
    found = judge_runs(
        make.arms(make.eager(exit_code=3), make.arm("plain", exit_code=0)), make.INDUCTOR
    )
    assert "exits with status 3 only with torch.compile" in found.level.why


def test_state_that_is_not_loaded_only_with_torch_compile_fails() -> None:
    missed = MissedState(make.SITE, 4, "_orig_mod.0.weight", "0.weight")
    bad = make.eager(missed_states=(missed,))
    found = judge_runs(make.arms(bad, make.arm("plain")), make.INDUCTOR)
    (finding,) = found.findings
    assert finding.slug == "wrapper-visible"
    assert "loads nothing for 4 keys, without an exception and only with" in finding.sentence
    assert finding.site == make.SITE
    for plain in (make.arm("plain", missed_states=(missed,)), make.arm("plain", status="raised")):
        assert not judge_runs(make.arms(bad, plain), make.INDUCTOR).findings


def test_handled_exceptions_are_counted_by_cause() -> None:
    calls = list(make.calls("c" + "." * 5))
    for index, message in ((1, "no kernel"), (2, "too large"), (3, "no kernel")):
        what = make.raised("RuntimeError", message)
        calls[index] = dataclasses.replace(calls[index], disposition="raised", raised=what)
    own = make.healthy("cold", calls=tuple(calls))
    found = judge_runs(make.arms(make.eager(6), make.healthy(number=6), own), make.INDUCTOR)
    first, second = found.findings
    assert "in 2 of 6 calls (1, 3)" in first.sentence
    assert "the program handles the exception" in first.sentence
    assert "too large" in second.sentence
    assert (first.count, second.count) == (2, 1)


def test_the_rung_eager_tells_capture_from_aot_where_the_backend_is_aot() -> None:
    contract = Contract(target="serve.py", own_backend="aot_eager")
    raised = make.raised(message="torch.compile with aot_autograd: no double backward")
    raised = dataclasses.replace(raised, create_graph=(Place("serve.py", 4),))
    own = make.healthy("capture", status="raised", raised=raised)
    calm = make.healthy("ladder:eager")
    found = judge_runs(make.arms(make.eager(), own, calm), contract)
    assert "AOTAutograd stage (backend='aot_eager' raises, 'eager' does not)" in found.level.why
    assert "create_graph=True at serve.py:4" in found.level.why
    assert found.findings[0].site == Place("serve.py", 4)
    both = judge_runs(
        make.arms(make.eager(), own, dataclasses.replace(own, name="ladder:eager")), contract
    )
    assert "in the Dynamo capture stage" in both.level.why


def test_a_recording_fails_where_compiling_raised() -> None:
    failed = Raised("torch._dynamo.exc.BackendCompilerFailed", "no kernel")
    events = tuple(make.compile_at(n, "raised", raised=failed) for n in (1, 3))
    arm = make.healthy("recorded", compiles=(make.compile_at(0), *events))
    found = judge_runs(make.arms(arm), Contract(kind="recording"))
    (finding,) = found.findings
    assert finding.count == 2
    assert "compiling raises in 2 of 13 calls of encode (1, 3)" in finding.sentence


def test_an_arm_with_the_own_backend_decides_where_compiling_failed_only_there() -> None:
    capture = make.healthy()
    hidden = make.compile_at(0, "switched_off", suppressed=True, why="suppress_errors hid it")
    own = make.healthy("cold", compiles=(hidden,), calls=make.calls("oooooo"))
    assert deciding_capture(make.arms(capture, own)) is own
    assert deciding_capture(make.arms(capture, make.healthy("cold"))) is capture


def test_a_program_that_calls_nothing_compiled_does_not_show_that_it_runs() -> None:
    quick = dataclasses.replace(make.INDUCTOR, depth="quick")
    uncalled = make.arm("capture", regions=(make.region(),))
    found = judge_runs(make.arms(make.eager(0), uncalled), quick)
    assert (found.level.status, found.level.why) == (
        "not_measured",
        "the program runs, and calls nothing that was compiled",
    )
