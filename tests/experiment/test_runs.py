"""What raises only when compiled: the input or the line, and the change after which it runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from .support import audited, lines_of, program

pytestmark = pytest.mark.slow


def test_a_marked_dimension_is_named_and_runs_with_its_equal_marked_too(tmp_path: Path) -> None:
    ledger = audited(program("raises.py:marked"), tmp_path).ledger()
    found = ledger.diagnosis
    assert found is not None
    assert (found.level, found.slug) == ("RUNS", "compiled-raises")
    assert (found.subject, found.axis, found.actual) == ("targets", 0, "12")
    assert "(logits axis 0 is as large)" in found.sentence
    assert found.site is not None
    assert found.site.line == lines_of("raises.py")["fixed"]
    (row,) = ledger.experiments
    assert (row.name, row.outcome) == ("mark-as-large", "holds")
    assert row.change == "TORCH_COMPILE_DYNAMIC_SOURCES=\"L['logits']:0\""


def test_what_fullgraph_turns_into_an_exception_runs_without_it(tmp_path: Path) -> None:
    ledger = audited(program("raises.py:whole"), tmp_path).ledger()
    assert ledger.diagnosis is not None
    assert ledger.diagnosis.site is not None
    assert ledger.diagnosis.site.line == lines_of("raises.py")["printed"]
    (row,) = ledger.experiments
    assert (row.name, row.outcome) == ("allow-breaks", "holds")
    assert "no exception in 3 calls" in row.sentence
