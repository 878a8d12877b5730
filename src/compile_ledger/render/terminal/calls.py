"""The strip: one letter a call, by what became of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from compile_ledger.render.dispositions import LOOKS, Strip, occurring, strips
from compile_ledger.render.words import counted

if TYPE_CHECKING:
    from compile_ledger.judge.document import Ledger

    from .page import Page, Piece

MOST_STRIPS = 8
ROW = 60
INDENT = 10


def strip(page: Page, ledger: Ledger) -> None:
    """A strip for each arm and region, at most :data:`MOST_STRIPS`, then the legend."""
    every = strips(ledger.arms, ledger.regions)
    if not every:
        return
    page.section("calls", "in order, by what became of each")
    several = len({one.label for one in every}) > 1
    for one in every[:MOST_STRIPS]:
        _strip(page, one, several=several)
    if len(every) > MOST_STRIPS:
        more = counted(len(every) - MOST_STRIPS, "more strip")
        page.line(f"and {more} in the HTML form, none with a worse call", indent=2)
    _legend(page, every)


def _strip(page: Page, one: Strip, *, several: bool) -> None:
    region = f", {one.label}" if several else ""
    notes = [counted(one.calls, "call")]
    if one.per_cell > 1:
        notes.append(f"a letter is the worst of {one.per_cell}")
    if one.missing:
        notes.append(f"{one.missing:,} later calls of the arm were not kept")
    change = f" ({one.change})" if one.change else ""
    page.line((one.arm, "bold"), f"{change}{region}: {'; '.join(notes)}", indent=2)
    row = max(10, min(ROW, (page.width - INDENT) // 10 * 10))
    for start in range(0, len(one.cells), row):
        cells = one.cells[start : start + row]
        looks = [LOOKS[cell.disposition] for cell in cells]
        letters: list[Piece] = [(look.letter, look.style) for look in looks]
        page.hang((f"{cells[0].first:>8,}", "dim"), *letters, indent=INDENT)


def _legend(page: Page, shown: tuple[Strip, ...]) -> None:
    looks = [LOOKS[name] for name in occurring(shown)]
    items = [((look.letter, look.style), f" {look.word} ({look.meaning})") for look in looks]
    page.flow(items, "   ", indent=2)
