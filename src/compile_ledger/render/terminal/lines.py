"""The ledger's lines: region, capture, ..., verdict, each cell with its instrument."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from compile_ledger.render.instruments import shared_instrument
from compile_ledger.render.words import NOT_MEASURED, because

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from compile_ledger.judge.document import Cell, Ledger, Line

    from .page import Page, Piece

LABEL = 15


def ledger_lines(page: Page, ledger: Ledger) -> None:
    """Print each line; a cell has its value and instrument, or why it has none."""
    if not ledger.lines:
        return
    shared = shared_instrument(ledger.lines)
    page.section("ledger", f"value [instrument{', of ' + shared if shared else ''}]")
    for line in ledger.lines:
        label = f"  {line.name}"
        for pieces in _cells(line, f" ({shared})", ledger.verdict):
            page.hang((label, "bold"), *pieces, indent=LABEL)
            label = ""


def _cells(line: Line, shared: str, verdict: str) -> Iterable[Sequence[Piece]]:
    """Cells in words; neighbours with one instrument, or missing for one reason, share a line."""
    for (missing, source), same in groupby(line.cells, key=_source):
        cells = list(same)
        if missing:
            yield _named(line, *cells), (because(NOT_MEASURED, source), "dim")
            continue
        said = "; ".join(_named(line, cell) + _value(cell, verdict) for cell in cells)
        instrument = source.removesuffix(shared)
        yield said, (f" [{instrument}]" if instrument else "", "dim")


def _source(cell: Cell) -> tuple[bool, str]:
    return (True, cell.why) if cell.value is None else (False, cell.instrument)


def _value(cell: Cell, verdict: str) -> str:
    return "as above" if verdict and cell.value == verdict else str(cell.value)


def _named(line: Line, *cells: Cell) -> str:
    names = ", ".join(cell.name for cell in cells)
    return "" if names == line.name else f"{names}: "
