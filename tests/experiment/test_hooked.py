"""A hook that compiled code never runs, and the setting by which it does."""

from __future__ import annotations

from pathlib import Path

import pytest

from .support import audited, program

pytestmark = pytest.mark.slow


def test_a_hook_that_is_added_late_is_found_by_guarding_hooks(tmp_path: Path) -> None:
    ledger = audited(program("hooked.py:build"), tmp_path).ledger()
    found = ledger.diagnosis
    assert found is not None
    assert (found.level, found.slug) == ("CORRECT", "side-effect-lost")
    finding = next(f for f in ledger.findings if f.id == found.finding)
    assert finding.first_call == 2
    assert "present in eager only: torch.float32 []" in finding.sentence
    (row,) = ledger.experiments
    assert (row.name, row.outcome) == ("guard-hooks", "holds")
    assert row.before is not None
    assert row.after is not None
    assert row.after.recompiles > row.before.recompiles
