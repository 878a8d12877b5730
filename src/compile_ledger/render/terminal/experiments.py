"""Experiments: one change each, before and after."""

from __future__ import annotations

from typing import TYPE_CHECKING

from compile_ledger.render.words import NOT_MEASURED, seconds, sentence

if TYPE_CHECKING:
    from compile_ledger.judge.document import ExperimentRow, Ledger, Reading

    from .page import Page

COLUMNS = ("compiles", "recomp.", "refused", "fell back", "off", "settled", "CPU")
WIDTHS = (9, 8, 8, 10, 5, 10, 10)
SIDE = 12
OUTCOMES = {
    "holds": ("✓", "green"),
    "refuted": ("✗", "bold red"),
    "not_resolved": ("~", "yellow"),
}
SETTLED = {True: "yes", False: "no", None: "too short"}


def settled(reading: Reading) -> str:
    """Whether the stream stopped compiling: yes, no, or too short to tell."""
    return SETTLED[reading.settled]


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
    heads = "".join(f"{name:>{width}}" for name, width in zip(COLUMNS, WIDTHS, strict=True))
    page.hang("", (heads, "dim"), indent=SIDE)
    _side(page, "before", row.before)
    _side(page, "after", row.after)
    glyph, style = OUTCOMES[row.outcome]
    page.hang((f"    {glyph}", style), (sentence(row.sentence), style), indent=6)


def _side(page: Page, name: str, reading: Reading | None) -> None:
    if reading is None:
        page.hang(f"    {name}", NOT_MEASURED, indent=SIDE + 1)
        return
    cpu = "?" if reading.cpu_seconds is None else seconds(reading.cpu_seconds)
    cells = (
        f"{reading.compiles:,}",
        f"{reading.recompiles:,}",
        f"{reading.refused:,}",
        f"{reading.fell_back:,}",
        f"{reading.switched_off:,}",
        settled(reading),
        cpu,
    )
    row = "".join(f"{cell:>{width}}" for cell, width in zip(cells, WIDTHS, strict=True))
    page.hang(f"    {name}", row, indent=SIDE)
