"""The answer to a what-if question as text of at most 80 columns."""

from __future__ import annotations

from collections.abc import Iterator

from compile_ledger.facts.guard import Refusal
from compile_ledger.facts.what_if import EntryAnswer, WhatIf

from . import cache_line_words as worded
from .cache_line import WIDTH, paragraph
from .words import clean, cut_right, place

_MOST = 8


def text(found: WhatIf) -> str:
    """What the call would do, then each entry's answer in the order of asking."""
    rows = list(paragraph(f"{found.target}: this call {worded.NEXT[found.next]}", 0))
    rows.extend(paragraph(found.why, 2))
    if found.nearest:
        rows.extend(paragraph(f"nearest entry: {found.nearest}", 2))
    for answer in found.answers:
        rows.extend(_answer(answer, found.hit))
    rows.extend(row for note in found.notes for row in paragraph(f"note: {note}", 0))
    return "\n".join(rows)


def verdict(answer: EntryAnswer, hit: str) -> str:
    """What an entry says of the call."""
    if not answer.accepts:
        return "refuses"
    if hit and answer.compile_id != hit:
        return f"would take it too, but {hit} is asked first"
    return "takes it"


def _answer(answer: EntryAnswer, hit: str) -> Iterator[str]:
    unknown = f", {len(answer.unknown)} guards not asked" if answer.unknown else ""
    yield from paragraph(f"{answer.compile_id or '?':<6}{verdict(answer, hit)}{unknown}", 2)
    for refusal in answer.refusals[:_MOST]:
        yield from _refusal(refusal)
    more = len(answer.refusals) - _MOST
    if more > 0:
        yield f"        and {more} more"


def _refusal(refusal: Refusal) -> Iterator[str]:
    yield from paragraph(worded.refusal(refusal), 8)
    if refusal.place is not None or refusal.user_line:
        where = place(refusal.place, WIDTH // 2)
        yield cut_right(clean(f"          {where}  {refusal.user_line}".rstrip()), WIDTH)
