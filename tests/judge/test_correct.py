"""Level 2: agreement with eager."""

from __future__ import annotations

import dataclasses

import pytest

from compile_ledger.facts.agreement import Agreement
from compile_ledger.judge.choose import Arms
from compile_ledger.judge.correct.agreements import correctness
from compile_ledger.judge.correct.level import judge_correct
from compile_ledger.judge.lines import correctness_line
from compile_ledger.judge.runs.level import judge_runs

from . import make


def compared(*leaves: Agreement, again: tuple[Agreement, ...] = ()) -> Arms:
    """Eager, eager again, and a correct arm with these agreements."""
    repeat = make.arm("eager_again", agreements=again or (make.agree(status="equal"),))
    return make.arms(make.eager(), repeat, make.healthy("correct", agreements=leaves))


def test_agreement_holds_and_says_how_much_was_compared() -> None:
    leaves = (make.agree(max_abs=1e-6), make.agree("out[1]", status="equal", call=1))
    found = judge_correct(compared(*leaves), make.INDUCTOR)
    assert found.level.status == "holds"
    assert "2 outputs of 2 calls agree with eager (correct arm), max |difference| 1.0e-06" in (
        found.level.why
    )


def test_float_further_from_fp64_fails_as_numerics_with_both_errors() -> None:
    leaf = make.agree(status="differs", error_compiled=1e-2, error_eager=1e-7, reference="fp64")
    found = judge_correct(compared(leaf), make.INDUCTOR)
    (finding,) = found.findings
    assert found.fails
    assert finding.slug == "numerics"
    assert "error 1.00e-02 against eager's 1.00e-07, 1e+05 times eager's" in finding.sentence
    assert finding.subject == "out"


def test_dtype_that_differs_fails_as_output_differs() -> None:
    leaf = make.agree("out[0]", status="differs", why="dtype: eager int64, compiled int8", call=2)
    found = judge_correct(compared(leaf), make.INDUCTOR)
    assert found.findings[0].slug == "output-differs"
    assert "out[0] in call 2: dtype: eager int64, compiled int8" in found.level.why


@pytest.mark.parametrize("leaf", ["state.rows", "mutated args[0]"])
def test_state_and_mutated_inputs_are_side_effects(leaf: str) -> None:
    wrong = make.agree(leaf, status="differs", why="eager: 12; compiled: 0", call=None)
    found = judge_correct(compared(wrong), make.INDUCTOR)
    assert found.fails
    assert found.findings[0].slug == "side-effect-lost"


@pytest.mark.parametrize(
    ("why", "head"),
    [
        (
            "eager changed it, the compiled call did not",
            "a side effect of eager's is missing under torch.compile: state mean in call 0: eager",
        ),
        (
            "the compiled call changed it, eager did not",
            "torch.compile adds a side effect that eager does not have: state mean in call 0: the",
        ),
        ("exact values differ", "a side effect differs: state mean in call 0: exact"),
    ],
)
def test_a_side_effect_says_which_side_lacks_it(why: str, head: str) -> None:
    found = judge_correct(
        compared(make.agree("state mean", status="differs", why=why)), make.INDUCTOR
    )
    assert found.findings[0].sentence.startswith(head)


def test_leaf_that_eager_does_not_repeat_is_not_resolved() -> None:
    shaky = make.agree(status="differs")
    found = judge_correct(compared(shaky, again=(make.agree(status="differs"),)), make.INDUCTOR)
    assert found.level.status == "not_resolved"
    assert {f.slug for f in found.findings} == {"nondeterministic"}
    assert all(f.severity == "note" for f in found.findings)


def test_other_leaf_still_fails_beside_a_nondeterministic_one() -> None:
    leaves = (make.agree("a", status="differs"), make.agree("b", status="differs"))
    again = (make.agree("a", status="differs"), make.agree("b", status="equal"))
    found = judge_correct(compared(*leaves, again=again), make.INDUCTOR)
    assert found.fails
    assert found.findings[0].subject == "b"


def test_nothing_compared_is_not_measured_with_the_reason() -> None:
    leaf = make.agree(status="not_compared", why="inputs differ")
    found = judge_correct(compared(leaf), make.INDUCTOR)
    assert found.level.status == "not_measured"
    assert "inputs differ" in found.level.why
    assert not found.command, "the audit that was just run would tell no more"


def test_capture_that_differs_fails_even_without_another_arm() -> None:
    capture = make.healthy(agreements=(make.agree(status="differs"),))
    found = judge_correct(make.arms(make.eager(), capture), make.INDUCTOR)
    assert found.fails
    assert "Dynamo's capture is the cause" in found.level.why


def test_quick_depth_answers_for_the_captured_graphs() -> None:
    capture = make.healthy(agreements=(make.agree(),))
    quick = dataclasses.replace(make.INDUCTOR, depth="quick")
    found = judge_correct(make.arms(make.eager(), capture), quick)
    assert found.level.status == "holds"
    assert found.level.why.startswith("the captured graphs: 1 output")
    assert found.level.why.endswith("backend 'inductor' was not asked for code (--quick)")


def test_quick_depth_does_not_answer_where_no_graph_ran() -> None:
    quick = dataclasses.replace(make.INDUCTOR, depth="quick")
    bare = make.healthy(calls=make.calls("ssss", graphs=0), agreements=(make.agree(),))
    for judge in (judge_correct, judge_runs):
        level = judge(make.arms(make.eager(), bare), quick).level
        assert (level.status, level.why) == ("not_measured", "no graph ran in the capture arm")


def test_capture_that_agrees_is_no_proof_for_inductor() -> None:
    capture = make.healthy(agreements=(make.agree(),))
    found = judge_correct(make.arms(make.eager(), capture), make.INDUCTOR)
    assert found.level.status == "not_measured"
    assert "agrees under backend='eager'; run without --quick" in found.level.why


def test_capture_is_proof_when_the_backend_is_eager() -> None:
    capture = make.healthy(agreements=(make.agree(),))
    found = judge_correct(make.arms(make.eager(), capture), make.EAGER_BACKEND)
    assert found.level.status == "holds"


def test_recording_cannot_show_correctness() -> None:
    found = judge_correct(make.arms(make.healthy("recorded")), make.INDUCTOR)
    assert found.level.status == "not_measured"
    assert "no eager arm" in found.level.why


def test_tolerance_that_disagrees_with_fp64_is_a_note() -> None:
    strict = make.agree(status="within", stated=False, error_compiled=1e-3, error_eager=2e-3)
    found = judge_correct(compared(strict), make.INDUCTOR)
    assert found.level.status == "holds"
    assert [f.slug for f in found.findings] == ["tolerance"]
    assert "fails what fp64 passes" in found.findings[0].sentence
    lax = make.agree(status="differs", stated=True, error_compiled=1.0, error_eager=1e-7)
    found = judge_correct(compared(lax), make.INDUCTOR)
    assert [f.slug for f in found.findings] == ["numerics", "tolerance"]
    assert "passes what fp64 fails" in found.findings[1].sentence


def test_correctness_gathers_worst_errors_and_determinism() -> None:
    leaves = (
        make.agree(max_abs=1e-6, error_compiled=2e-7, error_eager=1e-7, stated=True),
        make.agree("b", max_abs=3e-6, error_compiled=1e-7, error_eager=1e-7, stated=True),
        make.agree("c", status="not_compared", why="RNG"),
    )
    found = correctness(compared(*leaves), make.INDUCTOR)
    assert (found.compared, found.calls, found.arm) == (2, 1, "correct")
    assert (found.max_abs, found.worst_ratio, found.stated_pass) == (3e-6, 2.0, True)
    assert found.deterministic is True
    assert found.not_compared == ("c: RNG",)


def test_determinism_is_unknown_without_a_second_eager_run() -> None:
    found = correctness(make.arms(make.eager()), make.INDUCTOR)
    assert found.deterministic is None
    assert found.why


def test_outputs_of_the_same_bits_have_no_error_and_say_so() -> None:
    leaf = make.agree(status="equal", max_abs=0.0)
    line = correctness_line(correctness(compared(leaf), make.INDUCTOR))
    why = {cell.name: cell.why for cell in line.cells}
    assert why["error over eager's"] == "outputs equal eager's bit for bit"
