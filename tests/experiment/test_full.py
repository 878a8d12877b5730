"""Every arm, with generated code: cold, warm and steady beside the cheap ones."""

from __future__ import annotations

import pytest

from compile_ledger.experiment.audit import Audit

from .support import audited, dispositions, level, program

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def audit(tmp_path_factory: pytest.TempPathFactory) -> Audit:
    return audited(program("generates.py:workload"), tmp_path_factory.mktemp("full"), "full")


def test_every_arm_runs_to_its_end_cheap_ones_first(audit: Audit) -> None:
    names = list(audit.arms)
    assert names[:3] == ["eager", "eager_again", "capture"]
    assert names.index("reference") < names.index("cold") < names.index("warm")
    assert names.index("warm") < names.index("steady")
    for arm in audit.arms.values():
        assert (arm.ran, arm.lost, arm.raised) == (True, (), None)


def test_generated_code_is_kept_apart_from_captured_graphs(audit: Audit) -> None:
    expected = ["compiled", "reused", "recompiled", *["reused"] * 5]
    for name in ("capture", "cold", "warm"):
        assert dispositions(audit.arms[name], "fn") == expected
    for compile_ in audit.arms["cold"].compiles:
        assert compile_.phases.inductor or compile_.phases.backend


def test_the_cold_arm_finds_empty_caches_and_the_warm_arm_finds_what_it_left(
    audit: Audit,
) -> None:
    def asked(name: str) -> set[str]:
        return {state for c in audit.arms[name].compiles for state in c.caches.values()}

    assert "hit" not in asked("cold")
    assert "miss" in asked("cold")
    assert "hit" in asked("warm")


def test_what_belongs_to_the_process_is_paid_before_the_calls(audit: Audit) -> None:
    for name in ("cold", "warm"):
        costs = audit.arms[name].costs
        assert costs.import_torch
        assert costs.prewarm
    assert audit.arms["capture"].costs.prewarm is None


def test_a_compiler_was_found_by_using_it(audit: Audit) -> None:
    ledger = audit.ledger()
    assert level(ledger, "RUNS").status == "holds"
    assert not [f for f in ledger.findings if f.slug == "toolchain-missing"]


def test_outputs_agree_with_eager_within_fp64s_bound(audit: Audit) -> None:
    found = audit.ledger().correctness
    assert found.compared >= 8
    assert found.worst_error_compiled is not None
    assert found.worst_error_compiled < 1e-6
    assert level(audit.ledger(), "CORRECT").status == "holds"


def test_steady_calls_are_interleaved_with_an_a_a_comparison(audit: Audit) -> None:
    (steady,) = audit.arms["steady"].steady
    assert len(steady.eager) == len(steady.eager_again) == len(steady.compiled) >= 30
    assert (steady.design, steady.threads) == ("interleaved calls", 1)


def test_stable_holds_after_one_settled_recompile_confirmed_with_generated_code(
    audit: Audit,
) -> None:
    stable = level(audit.ledger(), "STABLE")
    assert stable.status == "holds", stable.why
    assert "settled after 1 recompile" in stable.why


def test_worth_it_is_judged_with_the_costs_of_each_cache_state(audit: Audit) -> None:
    ledger = audit.ledger()
    assert level(ledger, "WORTH_IT").status in ("holds", "fails", "not_resolved")
    cost = ledger.cost
    assert cost.cold_seconds
    assert cost.warm_seconds
    assert cost.ratio.samples >= 30
    assert cost.noise.low is not None
    assert cost.horizon == 1000
    assert (ledger.correctness.rtol, ledger.correctness.atol) == (1e-3, 1e-4)
