"""Which experiments a shape recompile calls for, and the source that they mark."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from compile_ledger.experiment.interventions import Intervention, interventions_for
from compile_ledger.experiment.run_interventions import run_interventions
from compile_ledger.facts.arm import Arm
from compile_ledger.facts.place import Raised
from compile_ledger.facts.region import Region
from compile_ledger.judge.document import CauseRow, Finding


def finding(slug: str = "recompile-shape", **fields: Any) -> Finding:
    fields = {"subject": "idx", "axis": 1, **fields}
    return Finding(slug, slug, "STABLE", "failure", "it recompiles", **fields)


def region(**kwargs: str) -> Region:
    return Region(0, "encode", compile_kwargs=kwargs)


def named(*found: Intervention) -> dict[str, Intervention]:
    return {one.name: one for one in found}


def marked(subject: str) -> str | None:
    """The sources that an experiment marks dynamic for a finding about ``subject``."""
    made = named(*interventions_for(finding(subject=subject), region()))
    marks = made.get("mark-dimension")
    return marks.env["TORCH_COMPILE_DYNAMIC_SOURCES"] if marks else None


def test_static_shapes_call_for_the_default_policy_first_then_for_the_proved_dimension() -> None:
    first, second, *_ = interventions_for(finding(), region(dynamic="False"))
    assert (first.name, first.overrides, first.env) == ("default-policy", {"dynamic": None}, {})
    assert (second.name, second.overrides) == ("mark-dimension", {})
    assert second.env == {"TORCH_COMPILE_DYNAMIC_SOURCES": "L['idx']:1"}
    assert first.tests == second.tests
    assert "idx" in first.tests
    assert "axis 1" in first.tests


def test_what_is_changed_is_said_in_words() -> None:
    for one in interventions_for(finding(), region(dynamic="False")):
        changed = [*one.overrides, *one.env.values()]
        assert all(str(what) in one.change for what in changed)
        assert one.tests


@pytest.mark.parametrize("kwargs", [{}, {"dynamic": "True"}, {"backend": "'eager'"}])
def test_where_the_policy_is_not_forbidden_the_dimension_is_marked_first(
    kwargs: dict[str, str],
) -> None:
    first, *rest = interventions_for(finding(), region(**kwargs))
    assert first.name == "mark-dimension"
    assert "default-policy" not in named(*rest)


def test_an_axis_that_is_not_proved_is_not_marked() -> None:
    made = interventions_for(finding(axis=None), region(dynamic="False"))
    assert made[0].name == "default-policy"
    assert "mark-dimension" not in named(*made)


@pytest.mark.parametrize("slug", ["numerics", "graph-break", "settled", "not-worth-it"])
def test_a_finding_of_another_mechanism_calls_for_no_shape_experiment(slug: str) -> None:
    assert interventions_for(finding(slug), region(dynamic="False")) == []


@pytest.mark.parametrize(
    ("subject", "source"),
    [
        ("x", "L['x']"),
        ("args[0]", "L['args'][0]"),
        ("self.weight", "L['self'].weight"),
        ("batch['ids']", "L['batch']['ids']"),
        ("L['x']", "L['x']"),
    ],
)
def test_a_subject_becomes_the_source_that_the_runtime_knows(subject: str, source: str) -> None:
    assert marked(subject) == f"{source}:1"


@pytest.mark.parametrize("subject", ["", "not a name", "1x", "[0]"])
def test_a_subject_that_names_nothing_is_not_marked(subject: str) -> None:
    assert marked(subject) is None


def test_a_higher_limit_tells_nothing_where_no_limit_was_hit() -> None:
    grows = finding("recompile-length", subject="past", axis=None)
    (one,) = interventions_for(grows, region(), limit="recompile_limit")
    assert one.name == "raise-limit"
    assert not interventions_for(grows, region())


@pytest.mark.parametrize(
    ("hit", "raised"),
    [
        ("recompile_limit", {"recompile_limit": 64}),
        ("accumulated_recompile_limit", {"accumulated_recompile_limit": 2048}),
        ("cache_size_limit", {"recompile_limit": 64}),
        ("accumulated_cache_size_limit", {"accumulated_recompile_limit": 2048}),
    ],
)
def test_the_limit_that_was_hit_is_the_one_that_is_raised(hit: str, raised: object) -> None:
    named = finding("recompile-constant-str", subject="name", axis=None)
    (one,) = interventions_for(named, region(), limit=hit)
    assert one.settings == raised


def test_the_default_policy_is_offered_for_a_size_that_is_not_the_leading_cause() -> None:
    other = CauseRow("recompile-shape", "input_ids", 1, 2)
    keys = finding("recompile-length", subject="kwargs", axis=None)
    keys = dataclasses.replace(keys, causes=(CauseRow("recompile-length", "kwargs"), other))
    (one,) = interventions_for(keys, region(dynamic="False"))
    assert (one.name, one.overrides) == ("default-policy", {"dynamic": None})
    assert "axis 1 of input_ids" in one.tests
    assert not interventions_for(keys, region())


def test_a_setting_that_an_exception_names_is_tried_before_breaks_are_allowed() -> None:
    text = (
        "DDPOptimizer backend: Found a higher order op in the graph. Please turn off DDP "
        "optimizer using torch._dynamo.config.optimize_ddp=False. Set TORCHDYNAMO_VERBOSE=1 for"
    )
    arm = Arm("capture", regions=(region(fullgraph="True"),), raised=Raised("E", text))
    found = dataclasses.replace(finding("compiled-raises"), axis=None, region=0)
    first, second = run_interventions(found, arm)
    assert first.change == "torch._dynamo.config.optimize_ddp = False"
    assert first.settings == {"optimize_ddp": False}
    assert second.name == "allow-breaks"
