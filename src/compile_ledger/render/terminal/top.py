"""The top of the page: the verdict, an exception that decided it, the five levels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from compile_ledger.render.headline import headline
from compile_ledger.render.levels import MARKS, TITLES, why
from compile_ledger.render.words import cut_right, place, sentence

if TYPE_CHECKING:
    from compile_ledger.judge.document import Ledger

    from .page import Page

LABEL = 14
LEVEL_LABEL = 27


def verdict(page: Page, ledger: Ledger) -> None:
    """Level, cause, where, cost and what the experiments showed."""
    head = headline(ledger)
    mark = MARKS[head.status]
    title = (f"{head.title}:", mark.style)
    page.hang((mark.glyph, mark.style), title, " ", head.cause, indent=2)
    for label, at in (
        ("where", head.where),
        ("in library", head.library),
        ("guarded at", head.guarded),
    ):
        if at is not None:
            page.hang(f"  {label}", (place(at, page.width - LABEL), "bold"), indent=LABEL)
        if at is not None and at is head.where and head.source:
            page.hang("", (cut_right(head.source, page.width - LABEL), "dim"), indent=LABEL)
    if head.cost:
        page.hang("  cost", head.cost, indent=LABEL)
    for said in head.experiments:
        page.hang("  experiment", said, indent=LABEL)
    if head.advice:
        page.hang("  next", (head.advice, "bold"), indent=LABEL)
    for remark in head.remarks:
        said = remark.removeprefix("warning: ")
        label = "note" if said == remark else "warning"
        page.hang(f"  {label}", (sentence(said), "yellow"), indent=LABEL)


def raised(page: Page, ledger: Ledger) -> None:
    """The exception that decided the verdict, with the user's own lines."""
    if ledger.raised is None:
        return
    said = _first_paragraph(ledger.raised.message)
    page.hang("  raised", (f"{ledger.raised.type}: ", "bold"), said, indent=LABEL)
    for frame in ledger.raised.frames:
        name = f" in {frame.function}" if frame.function else ""
        page.line(place(frame, page.width - LABEL - len(name)), name, indent=LABEL)


def levels(page: Page, ledger: Ledger) -> None:
    """The five levels in order, each with its status as a mark and a word."""
    page.blank()
    above = ledger.diagnosis.sentence if ledger.diagnosis else None
    for level in ledger.levels:
        mark = MARKS[level.status]
        label = f"{mark.glyph} {TITLES[level.level]:<9} {mark.word}"
        said = "as above" if level.why == above else why(level)
        page.hang((label, mark.style), said, indent=LEVEL_LABEL)


_MOST = 500
"""Letters of an exception's message that the top of the page shows."""


def _first_paragraph(message: str) -> str:
    """What an exception says before torch's advice and the stack that it writes below."""
    said = next((part for part in message.split("\n\n") if part.strip()), "")
    return said if len(said) <= _MOST else f"{said[:_MOST]}..."
