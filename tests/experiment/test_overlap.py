"""Inputs that overlap in memory reuse a graph made for inputs that do not."""

from __future__ import annotations

from pathlib import Path

import pytest

from .support import audited, program

pytestmark = pytest.mark.slow


def test_the_inputs_that_overlap_are_named_in_the_call_that_differs(tmp_path: Path) -> None:
    audit = audited(program("overlap.py:build"), tmp_path)
    capture = audit.arms["capture"].calls
    assert [call.overlapping for call in capture] == [(), ("a", "b")]
    found = audit.ledger().diagnosis
    assert found is not None
    assert found.level == "CORRECT"
    assert "in call 1: max |difference| 2" in found.sentence
    assert "a and b overlap in memory" in found.sentence
