"""What the instruments of a ledger have in common, so that it is said once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from compile_ledger.judge.document import Line

OFTEN = 3
"""Cells that must name one recorder before it is said once, in the title."""


def shared_instrument(lines: Iterable[Line]) -> str:
    """What most instruments give in brackets at their end, ``recorder, torch 2.13.0``."""
    named = [cell.instrument for line in lines for cell in line.cells if cell.value is not None]
    ends = Counter(name[:-1].rpartition(" (")[2] for name in named if name.endswith(")"))
    end, times = ends.most_common(1)[0] if ends else ("", 0)
    return end if times >= OFTEN else ""
