"""Experiments: one change each, before and after."""

from __future__ import annotations

from typing import TYPE_CHECKING

from compile_ledger.render.readings import COLUMNS, Column
from compile_ledger.render.words import NOT_MEASURED, sentence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from compile_ledger.judge.document import ExperimentRow, Ledger, Reading

    from .page import Page

SIDE = 12
OUTCOMES = {
    "holds": ("✓", "green"),
    "refuted": ("✗", "bold red"),
    "not_resolved": ("~", "yellow"),
}


def experiments(page: Page, ledger: Ledger) -> None:
    """A small table for each experiment, and the sentence that it adds up to."""
    if not ledger.experiments:
        return
    page.section("experiments", "one change each")
    for row in ledger.experiments:
        _experiment(page, row)


def _experiment(page: Page, row: ExperimentRow) -> None:
    page.line((row.name, "bold"), f"  {row.change}", indent=2)
    page.line((f"tests: {row.tests}", "dim"), indent=2)
    columns = COLUMNS[row.level]
    heads = "".join(f"{column.short:>{column.width}}" for column in columns)
    page.hang("", (heads, "dim"), indent=SIDE)
    _side(page, "before", columns, row.before)
    _side(page, "after", columns, row.after)
    glyph, style = OUTCOMES[row.outcome]
    page.hang((f"    {glyph}", style), (sentence(row.sentence), style), indent=6)


def _side(page: Page, name: str, columns: Sequence[Column], reading: Reading | None) -> None:
    if reading is None:
        page.hang(f"    {name}", NOT_MEASURED, indent=SIDE + 1)
        return
    row = "".join(f"{column.word(reading):>{column.width}}" for column in columns)
    page.hang(f"    {name}", row, indent=SIDE)
