"""The user's variables that would change an arm: dropped, and told."""

from __future__ import annotations

from pathlib import Path

import pytest

from compile_ledger.experiment import launch, plan
from compile_ledger.experiment.plan import Terms

from .support import program, run


@pytest.mark.slow
def test_what_an_arm_does_not_get_is_in_its_recording(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TORCH_COMPILE_DISABLE", "1")
    terms = Terms(program("ends.py", "returns"), tmp_path / "audit")
    arm = run(terms, plan.eager(terms))
    assert arm.header
    assert "TORCH_COMPILE_DISABLE=1 dropped" in arm.header.changed


def test_a_variable_that_would_turn_compiling_off_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TORCHDYNAMO_DISABLE", "1")
    monkeypatch.setenv("TORCH_COMPILE_DISABLE", "0")
    told = launch.dropped()
    assert told["TORCHDYNAMO_DISABLE=1"] == "turn compiling off"
    assert "TORCH_COMPILE_DISABLE=0" not in told, "it would change nothing"
