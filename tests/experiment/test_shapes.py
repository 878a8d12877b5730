"""The smallest experiment: a shape recompile's diagnosis holds, or it is refuted."""

from __future__ import annotations

import pytest

from compile_ledger.experiment.audit import Audit, Listener
from compile_ledger.experiment.targets import parse_target
from compile_ledger.facts.arm import Arm
from compile_ledger.judge.document import Ledger

from .support import ROOT, audited, finding, level, program

pytestmark = pytest.mark.slow


class Heard(Listener):
    """Everything that an audit says while it runs."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self.provisional_ledgers: list[Ledger] = []

    def arm_started(self, name: str, why: str) -> None:
        assert why
        self.said.append(f"started {name}")

    def arm_ended(self, arm: Arm) -> None:
        self.said.append(f"ended {arm.name}")

    def provisional(self, ledger: Ledger) -> None:
        self.said.append("provisional")
        self.provisional_ledgers.append(ledger)


@pytest.fixture(scope="module")
def heard() -> Heard:
    return Heard()


@pytest.fixture(scope="module")
def refuted(tmp_path_factory: pytest.TempPathFactory, heard: Heard) -> Audit:
    """Sizes are loop bounds: no policy keeps them symbolic."""
    return audited(program("loops.py:main"), tmp_path_factory.mktemp("loops"), listener=heard)


def test_sizes_used_as_loop_bounds_look_like_a_shape_recompile(refuted: Audit) -> None:
    found = finding(refuted.ledger(), "recompile-shape")
    assert (found.subject, found.axis, found.severity) == ("x", 0, "failure")
    assert refuted.arms["capture"].regions[0].compile_kwargs["dynamic"] == "False"


def test_a_change_that_leaves_every_recompile_refutes_the_diagnosis(refuted: Audit) -> None:
    rows = {row.name: row for row in refuted.experiments}
    row = rows["default-policy"]
    assert row.outcome == "refuted"
    assert row.sentence.startswith("diagnosis refuted: with dynamic=False -> the default")
    assert row.before
    assert row.after
    assert (row.before.refused, row.after.refused) == (1, 1)
    assert (row.before.settled, row.after.settled) == (False, False)


def test_a_refuted_diagnosis_is_tested_by_the_next_change(refuted: Audit) -> None:
    names = [row.name for row in refuted.experiments]
    assert names[:2] == ["default-policy", "mark-dimension"]
    assert all(row.outcome != "holds" for row in refuted.experiments[:-1])


def test_the_provisional_diagnosis_is_told_before_any_experiment(
    refuted: Audit, heard: Heard
) -> None:
    assert heard.said[:6] == [
        f"{what} {name}"
        for name in ("eager", "eager_again", "capture")
        for what in ("started", "ended")
    ]
    assert heard.said[6:8] == ["provisional", "started experiment:default-policy"]
    (ledger,) = heard.provisional_ledgers
    assert ledger.provisional
    assert ledger.diagnosis
    assert ledger.diagnosis.level == "STABLE"
    assert not refuted.ledger().provisional


@pytest.fixture(scope="module")
def dynamic(tmp_path_factory: pytest.TempPathFactory) -> Ledger:
    """The chapter's service under the default policy."""
    path = str(ROOT / "examples" / "varlen_service.py")
    target = parse_target(path, ("--dynamic", "none"))
    return audited(target, tmp_path_factory.mktemp("dynamic")).ledger()


def test_under_the_default_policy_no_level_fails_up_to_stable(dynamic: Ledger) -> None:
    assert dynamic.diagnosis is None
    assert level(dynamic, "CAPTURED").status == "holds"
    stable = level(dynamic, "STABLE")
    assert (stable.status, "inductor" in stable.why) == ("not_measured", True), stable.why
    assert not [f for f in dynamic.findings if f.severity == "failure"]
    found = {k: v for k, v in dynamic.regions[0].dispositions.items() if v}
    assert found == {"compiled": 1, "recompiled": 1, "reused": 11}


def test_one_settled_recompile_is_a_note_with_its_cost(dynamic: Ledger) -> None:
    note = finding(dynamic, "settled")
    assert (note.severity, note.count) == ("note", 1)
    assert note.cost.seconds
    assert note.cost.seconds > 0
    assert dynamic.experiments == ()


@pytest.fixture(scope="module")
def training(tmp_path_factory: pytest.TempPathFactory) -> Ledger:
    """The training script with evaluation between its steps."""
    target = parse_target(str(ROOT / "examples" / "train.py"))
    return audited(target, tmp_path_factory.mktemp("train")).ledger()


def test_evaluation_between_steps_recompiles_once_on_the_grad_mode_and_settles(
    training: Ledger,
) -> None:
    assert training.diagnosis is None
    note = finding(training, "settled")
    assert (note.subject, note.count) == ("grad_mode", 1)
    found = {k: v for k, v in training.regions[0].dispositions.items() if v}
    assert found == {"compiled": 1, "recompiled": 1, "reused": 22}
    assert level(training, "STABLE").status == "holds"


def test_a_training_step_compares_equal_though_parameters_drift(training: Ledger) -> None:
    assert training.correctness.stated_pass
    assert training.correctness.deterministic
    assert training.correctness.compared >= 8
    correct = level(training, "CORRECT")
    assert correct.status == "holds"
    assert "was not asked for code (--quick)" in correct.why
