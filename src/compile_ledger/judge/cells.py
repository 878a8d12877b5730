"""Cells of the ledger's lines."""

from __future__ import annotations

from .document import Cell


def cell(name: str, value: str | None, instrument: str, why: str = "") -> Cell:
    """A cell: a value with its instrument, or why there is none."""
    if value is None:
        return absent(name, why)
    return Cell(name, value, instrument)


def absent(name: str, why: str) -> Cell:
    """A cell without a value; it always says why."""
    return Cell(name, None, "", why or "not measured")
