"""What the ledger does not know, why, and the command that would supply it."""

from __future__ import annotations

from compile_ledger.judge.document import Ledger, NotMeasured

from .levels import TITLES


def gaps(ledger: Ledger) -> tuple[NotMeasured, ...]:
    """Every gap once, the unproven level first, levels under the names readers see."""
    found = list(ledger.not_measured)
    first = ledger.unproven
    if first is not None and first.level not in [gap.what for gap in found]:
        found.insert(0, NotMeasured(first.level, first.why, first.command))
    titles = {str(name): title for name, title in TITLES.items()}
    return tuple(NotMeasured(titles.get(gap.what, gap.what), gap.why, gap.command) for gap in found)
