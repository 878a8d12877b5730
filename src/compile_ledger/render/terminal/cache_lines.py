"""Cache lines: the entries of each code object in lookup order, and what sets them apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

from compile_ledger.judge.program_names import frame_name
from compile_ledger.render import cache_line_words as worded
from compile_ledger.render.cache_line_rows import EntryRows, line_rows
from compile_ledger.render.words import counted, place

if TYPE_CHECKING:
    from compile_ledger.facts.cache_line import CodeLine, LineReading
    from compile_ledger.judge.document import Ledger

    from .page import Page

MOST_LINES = 4
MOST_ENTRIES = 8
MOST_SHOWN = 3
INDENT = 10


def cache_lines(page: Page, ledger: Ledger) -> None:
    """The lines that tell most: those with most entries, or that are no longer on."""
    ranked = sorted(ledger.cache_lines, key=_rank)
    if not ranked:
        return
    page.section("cache lines", "entries in the order in which a call asks them")
    for one in ranked[:MOST_LINES]:
        _line(page, one.line, one.target)
    rest = len(ranked) - MOST_LINES
    if rest > 0:
        page.line(f"and {counted(rest, 'code object')} more in the HTML form", indent=2)


def _rank(one: LineReading) -> tuple[bool, int]:
    return one.line.state == "on", -(len(one.line.entries) + one.line.more)


def _line(page: Page, line: CodeLine, target: str) -> None:
    role = "" if line.role == "root" else f" ({line.role})"
    name = f"{frame_name(line.name, line.file, (target,))}{role}  "
    page.line((name, "bold"), (place(line.place, page.width - len(name) - 2), "dim"), indent=2)
    page.line(
        f"{worded.state(line)}; {worded.entries(line)}; {worded.budget(line.budget)}", indent=4
    )
    if worded.why(line):
        page.line(f"why: {worded.why(line)}", indent=4)
    found = line_rows(line)
    for rows in found.entries[:MOST_ENTRIES]:
        _entry(page, rows)
    more = len(found.entries[MOST_ENTRIES:]) + line.more
    if more:
        page.line(f"and {more} more {'entry' if more == 1 else 'entries'}", indent=4)
    if found.folded:
        shared = "in every entry" if len(found.entries) > 1 else "more"
        page.line((f"+ {counted(found.folded, 'assumption')} {shared}", "dim"), indent=4)


def _entry(page: Page, rows: EntryRows) -> None:
    entry = rows.entry
    label = (f"    {entry.compile_id or '?'}", "bold")
    if not entry.valid:
        why = entry.invalid_why or "no reason given"
        page.hang(label, f"invalidated: {why}", indent=INDENT)
        return
    texts = [one.text for one in rows.told]
    most = max(MOST_SHOWN, rows.apart)
    more = max(0, len(texts) - most) + rows.more
    said = "; ".join(texts[:most]) + (f"; and {more} more" if more > 0 else "")
    page.hang(label, f"{worded.entry_counts(entry)}", f": {said}" if said else "", indent=INDENT)
