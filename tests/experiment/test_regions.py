"""Every form of ``torch.compile`` is a region: its line, its target, what the program gave it."""

from __future__ import annotations

import pytest

from compile_ledger.experiment import plan
from compile_ledger.experiment.audit import own_backend
from compile_ledger.facts.arm import Arm
from compile_ledger.facts.region import Region

from .support import PROGRAMS, arms, lines_of, program

pytestmark = pytest.mark.slow

FORMS = "forms.py"
KINDS = {
    "plain": "function",
    "decorated_with_arguments": "function",
    "decorated_bare": "function",
    "Scale": "module",
    "Shift": "module.compile",
    "Service.answer": "method",
    "Service.decorated": "function",
    "<lambda>": "function",
}
"""Each form by the comment on its line in the program."""
GIVEN = {
    "plain": {"backend": "'eager'", "fullgraph": "True"},
    "decorated_with_arguments": {"backend": "'eager'", "dynamic": "False"},
    "decorated_bare": {},
    "Scale": {"backend": "'aot_eager'"},
    "Shift": {"backend": "'eager'", "dynamic": "True"},
    "Service.answer": {"mode": "'reduce-overhead'"},
    "Service.decorated": {"backend": "'eager'"},
    "<lambda>": {"options": "{'max_autotune': False}"},
}
EVERY_FORM = pytest.mark.parametrize("form", KINDS)
BOTH_ARMS = pytest.mark.parametrize("name", ["eager", "capture"])


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Arm]:
    return arms(program(FORMS), tmp_path_factory.mktemp("forms"), plan.eager, plan.capture)


def region(arm: Arm, form: str) -> Region:
    return next(r for r in arm.regions if r.target.rpartition(".<locals>.")[2] == form)


@BOTH_ARMS
def test_each_form_is_one_region(seen: dict[str, Arm], name: str) -> None:
    targets = [r.target.rpartition(".<locals>.")[2] for r in seen[name].regions]
    assert sorted(targets) == sorted(KINDS)
    assert [r.id for r in seen[name].regions] == list(range(len(KINDS)))


@EVERY_FORM
@BOTH_ARMS
def test_a_regions_site_is_the_users_line(seen: dict[str, Arm], name: str, form: str) -> None:
    site = region(seen[name], form).site
    assert site
    assert (site.file, site.line) == (str(PROGRAMS / FORMS), lines_of(FORMS)[form])


@EVERY_FORM
@BOTH_ARMS
def test_a_region_shows_what_the_program_gave_not_what_the_arm_changed(
    seen: dict[str, Arm], name: str, form: str
) -> None:
    found = region(seen[name], form)
    assert found.kind == KINDS[form]
    assert found.compile_kwargs == GIVEN[form]


@EVERY_FORM
def test_both_calls_of_each_region_ran_its_one_graph(seen: dict[str, Arm], form: str) -> None:
    arm = seen["capture"]
    calls = [call for call in arm.calls if call.region == region(arm, form).id]
    assert [call.disposition for call in calls] == ["compiled", "reused"]
    assert [call.graphs for call in calls] == [1, 1]
    assert calls[0].runs == calls[1].runs


def test_eager_calls_have_no_disposition(seen: dict[str, Arm]) -> None:
    assert len(seen["eager"].calls) == 2 * len(KINDS)
    assert {call.disposition for call in seen["eager"].calls} == {None}
    assert not seen["eager"].compiles


def test_one_region_that_generates_code_makes_the_audit_about_inductor(
    seen: dict[str, Arm],
) -> None:
    assert own_backend(seen["eager"].regions) == "inductor"
    cheap = [r for r in seen["eager"].regions if "backend" in r.compile_kwargs]
    assert own_backend(cheap) == "eager"


def test_what_the_arms_changed_of_the_process_is_said(seen: dict[str, Arm]) -> None:
    for arm in seen.values():
        assert arm.header
        assert "seed 0" in arm.header.changed
        assert "1 thread(s)" in arm.header.changed
        assert any("backend='eager'" in said for said in arm.header.changed)
    eager, capture = seen["eager"].header, seen["capture"].header
    assert eager
    assert capture
    assert any("force_eager" in said for said in eager.changed)
    assert not any("force_eager" in said for said in capture.changed)


def test_no_evidence_was_lost(seen: dict[str, Arm]) -> None:
    for arm in seen.values():
        assert (arm.status, arm.lost, arm.damage) == ("finished", (), ())
