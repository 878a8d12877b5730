"""What is compared with eager, what is not and why, and what is never blamed on the compiler."""

from __future__ import annotations

import pytest

from compile_ledger.experiment.audit import Audit
from compile_ledger.facts.agreement import Agreement

from .support import audited, finding, level, program

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def audit(tmp_path_factory: pytest.TempPathFactory) -> Audit:
    return audited(program("outcomes.py:main"), tmp_path_factory.mktemp("outcomes"))


def of(audit: Audit, target: str, arm: str = "capture") -> list[Agreement]:
    region = next(r.id for r in audit.arms[arm].regions if r.target == target)
    return [a for a in audit.arms[arm].agreements if a.region == region]


def statuses(found: list[Agreement]) -> set[str]:
    return {one.status for one in found}


def test_all_cheap_arms_ran_to_their_end_and_nothing_was_lost(audit: Audit) -> None:
    assert list(audit.arms)[:3] == ["eager", "eager_again", "capture"]
    for arm in audit.arms.values():
        assert (arm.status, arm.lost, arm.raised) == ("finished", (), None)


def test_an_input_that_a_call_changes_is_an_output(audit: Audit) -> None:
    found = of(audit, "writes_into")
    assert statuses(found) == {"equal"}
    assert [a.leaf for a in found if a.call == 0] == ["out", "mutated args[1]"]
    assert len(found) == 6


def test_a_buffer_that_a_call_changes_is_an_output(audit: Audit) -> None:
    found = of(audit, "Counts")
    assert statuses(found) == {"equal"}
    assert {a.leaf for a in found} == {"out", "state seen"}


def test_seeded_random_numbers_are_the_same_in_every_arm(audit: Audit) -> None:
    for arm in ("eager_again", "capture"):
        assert statuses(of(audit, "draws", arm)) == {"equal"}


def test_calls_between_the_steps_of_an_optimizer_are_compared(audit: Audit) -> None:
    found = [a for a in of(audit, "Linear") if a.leaf == "out"]
    assert [a.call for a in found] == [0, 1, 2]
    assert statuses(found) <= {"equal", "within"}


def test_parameters_that_drifted_are_compared_with_an_eager_copy(audit: Audit) -> None:
    found = [a for a in of(audit, "Conv1d") if a.leaf == "out"]
    assert (statuses(found), len(found)) == ({"equal"}, 3)
    assert all("eager copy in this process" in a.note for a in found)


def test_a_copy_that_would_share_a_list_is_not_made_and_the_call_not_compared(
    audit: Audit,
) -> None:
    found = of(audit, "shares_a_list")
    assert statuses(found) == {"not_compared"}
    assert all("a copy would share STEPS (a list)" in a.why for a in found)


def test_a_compiled_value_that_differs_is_told_leaf_by_leaf(audit: Audit) -> None:
    found = {a.leaf: a for a in of(audit, "differs") if a.call == 0}
    assert {leaf: a.status for leaf, a in found.items()} == {
        "out (type)": "equal",
        "out[0]": "differs",
        "out[1]": "differs",
        "out[2]": "equal",
    }
    assert found["out[0]"].max_abs == pytest.approx(0.01, rel=0.01)
    assert found["out[1]"].why == "eager: str 'a'; compiled: str 'b'"


def test_a_side_effect_that_compiled_code_loses_shows_in_what_the_program_returns(
    audit: Audit,
) -> None:
    final = {a.leaf: a for a in audit.arms["capture"].agreements if a.call is None}
    assert final["state['log']"].status == "differs"
    assert final["state['log']"].why == "eager: int 3; compiled: int 0"
    again = [a for a in audit.arms["eager_again"].agreements if a.call is None]
    assert again
    assert statuses(again) == {"equal"}


def test_eager_that_differs_from_itself_is_noted_and_never_the_diagnosis(audit: Audit) -> None:
    assert statuses(of(audit, "unrepeatable", "eager_again")) == {"differs"}
    ledger = audit.ledger()
    note = finding(ledger, "nondeterministic")
    assert (note.severity, note.level) == ("note", "CORRECT")
    region = of(audit, "unrepeatable")[0].region
    failures = [f for f in ledger.findings if f.severity == "failure" and f.level == "CORRECT"]
    assert failures
    assert region not in {f.region for f in failures}


def test_the_level_fails_on_what_the_compiler_changed(audit: Audit) -> None:
    ledger = audit.ledger()
    assert level(ledger, "CORRECT").status == "fails"
    assert ledger.diagnosis
    assert ledger.diagnosis.level == "CORRECT"
    assert ledger.correctness.deterministic is False
