"""What a report says to try next."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from compile_ledger.facts.place import Place
from compile_ledger.judge.document import Diagnosis, ExperimentRow, Finding, NextStep, Reading
from compile_ledger.judge.edits import EDITS
from compile_ledger.judge.next_step import next_step
from compile_ledger.judge.slugs import SLUGS
from compile_ledger.judge.view import look

from . import make

NOTES = {
    "settled",
    "recompiled",
    "nondeterministic",
    "tolerance",
    "limit-ahead",
    "limit-without-effect",
    "lost-evidence",
}
"""Kinds that are never a failure."""


def finding(slug: str = "recompile-shape", **fields: Any) -> Finding:
    fields = {"subject": "x", "axis": 0, "region": 0, "site": make.SITE, "sentence": "", **fields}
    return Finding(slug, slug, SLUGS[slug].level, "failure", **fields)


def step_of(of: Finding, *rows: ExperimentRow, sizes: tuple[int, ...] = ()) -> NextStep:
    calls = tuple(
        replace(call, sizes={of.subject: (size,)})
        for call, size in zip(make.calls("." * len(sizes)), sizes, strict=True)
    )
    view = look(make.healthy(calls=calls)) if sizes else None
    diagnosis = Diagnosis(of.level, of.slug, of.sentence, site=of.site, finding=of.id)
    found = next_step(diagnosis, [of], rows, [], view)
    assert found is not None
    return found


def reading(compiles: int, refused: int = 0, fell_back: int = 0) -> Reading:
    return Reading("capture", compiles, compiles - 1, refused, fell_back, 0, settled=None)


def shown(name: str, outcome: Any = "holds") -> ExperimentRow:
    before, after = reading(8, refused=1, fell_back=5), reading(2)
    return ExperimentRow(name, f"the change of {name}", "it", before, after, outcome, "")


@pytest.mark.parametrize("slug", sorted(set(SLUGS) - NOTES))
def test_every_kind_of_failure_has_an_edit(slug: str) -> None:
    told = slug in EDITS or slug in {"recompile-error", "recompile-other"}
    assert told, "say in judge/edits.py which edit removes it"


def test_what_was_shown_to_help_is_said_with_what_it_changed() -> None:
    step = step_of(finding(), shown("default-policy"))
    assert step.do == "leave dynamic=False out of torch.compile"
    assert step.tested == "tested: 2 compiles instead of 8, and no call eager instead of 6"
    assert step.site == make.SITE


def test_a_keyword_is_changed_at_the_line_of_torch_compile_not_where_the_failure_is() -> None:
    inside = finding("compiled-raises", site=Place("model.py", 11))
    row = replace(shown("allow-breaks"), level="RUNS")
    diagnosis = Diagnosis("RUNS", inside.slug, "", site=inside.site, finding=inside.id)
    step = next_step(diagnosis, [inside], [row], [], look(make.healthy()))
    assert step is not None
    assert step.do == "leave fullgraph=True out of torch.compile"
    assert step.site == make.SITE


@pytest.mark.parametrize(
    "change", ["torch._dynamo.config.capture_scalar_outputs = True", 'TORCH_COMPILE_X="x"']
)
def test_a_setting_of_the_process_is_at_no_line(change: str) -> None:
    step = step_of(finding(), replace(shown("a-setting"), change=change))
    assert step.do == change
    assert step.site is None


def test_a_raised_limit_is_no_repair() -> None:
    step = step_of(finding("recompile-constant-str", subject="stage"), shown("raise-limit"))
    assert step.do == "choose by stage outside the region: one compiled function for each name"
    assert step.tested == "not tested: needs an edit"


def test_what_did_not_help_is_named_beside_the_edit() -> None:
    step = step_of(finding(), shown("mark-dimension", "refuted"))
    assert step.tested.endswith("tested and not enough: the change of mark-dimension")


def test_the_edit_is_at_the_line_that_the_guard_names() -> None:
    guarded = Place("serve.py", 31)
    assert step_of(finding(guarded=guarded)).site == guarded


@pytest.mark.parametrize(
    ("said", "edit"),
    [
        (
            "in the backend stage (vendor; backend='eager' does not raise): no kernel",
            "='vendor' return",
        ),
        ("in the backend stage (inductor; backend='eager' does not raise): bad", "report it to"),
        (
            "in the AOTAutograd stage: a backward through the backward of compiled code: x",
            "module it",
        ),
    ],
)
def test_what_raises_in_a_stage_has_the_edit_of_that_stage(said: str, edit: str) -> None:
    assert edit in step_of(finding("compiled-raises", sentence=said)).do


def test_a_ragged_last_batch_is_told_from_other_sizes() -> None:
    assert "drop_last=True" in step_of(finding(), sizes=(32, 32, 32, 7, 32, 32, 32, 7)).do
    assert "drop_last" not in step_of(finding(), sizes=(32, 7, 9, 32, 11, 32)).do
    assert "drop_last" not in step_of(finding(), sizes=(32, 64, 32, 32)).do


def test_a_cache_that_grows_is_told_by_its_sizes() -> None:
    assert "static cache" in step_of(finding(), sizes=(4, 5, 6, 7, 8)).do
    assert "static cache" not in step_of(finding(), sizes=(4, 9, 6, 12, 8)).do


def test_padded_text_is_told_by_the_names_of_its_inputs() -> None:
    assert "pad_to_multiple_of" in step_of(finding(subject="kwargs['input_ids']", axis=1)).do


def test_keys_of_a_wrapped_module_are_told_by_their_prefix() -> None:
    said = "KeyError: '_orig_mod.0.weight'"
    assert "_orig_mod.state_dict()" in step_of(finding("compiled-raises", sentence=said)).do


def test_no_failure_has_no_next_step() -> None:
    assert next_step(None, [], [], [], None) is None
