"""Other instruments beside ours: what each says of a region's capture."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from compile_ledger.judge.document import Ledger

    from .page import Page

LABEL = 20


def opinions(page: Page, ledger: Ledger) -> None:
    """Three lines a region, and where they disagree."""
    if not ledger.opinions:
        return
    page.section("other instruments", "shown, never deciding")
    for row in ledger.opinions:
        page.line((row.target, "bold"), indent=2)
        page.hang("    recorded", row.here, indent=LABEL)
        page.hang("    explain", row.explain, indent=LABEL)
        page.hang("    fullgraph=True", row.fullgraph, indent=LABEL)
        for said in row.differs:
            page.hang("    differs", (said, "dim"), indent=LABEL)
