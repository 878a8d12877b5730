"""A cache line as text of at most 80 columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from textwrap import wrap

from compile_ledger.facts.cache_line import CacheLine, CodeLine
from compile_ledger.judge.program_names import frame_name

from . import cache_line_words as worded
from .cache_line_rows import Assumption, EntryRows, line_rows
from .words import clean, cut_right, place

WIDTH = 80
_FIRST = 6


def text(found: CacheLine) -> str:
    """The cache lines of a region, the root first."""
    rows = [clean(f"cache line of {found.target}, torch {found.torch}")]
    for line in found.lines:
        rows.extend(_line(line, found.target))
    rows.extend(row for note in found.notes for row in paragraph(f"note: {note}", 0))
    return "\n".join(rows)


def _line(line: CodeLine, target: str) -> Iterator[str]:
    role = "" if line.role == "root" else f" ({line.role})"
    yield ""
    name = frame_name(line.name, line.file, (target,))
    yield from paragraph(f"{name}{role}  {place(line.place, WIDTH - 20)}", 0)
    yield from paragraph(
        f"{worded.state(line)} · {worded.entries(line)} · {worded.budget(line.budget)}", 2
    )
    if worded.why(line):
        yield from paragraph(f"why: {worded.why(line)}", 2)
    found = line_rows(line)
    for rows in found.entries:
        yield from _entry(rows)
    same = found.folded
    if same:
        shared = "in every entry" if len(line.entries) > 1 else "more"
        yield from paragraph(f"+ {same} assumption{'s' * (same > 1)} {shared}", 2)


def _entry(rows: EntryRows) -> Iterator[str]:
    entry = rows.entry
    name = entry.compile_id or "?"
    if not entry.valid:
        yield from paragraph(f"{name:<{_FIRST}}invalidated: {entry.invalid_why or 'no reason'}", 2)
        return
    yield from paragraph(f"{name:<{_FIRST}}{worded.entry_counts(entry)}", 2)
    yield from (_assumption(one) for one in rows.shown)
    if rows.more:
        yield f"{' ' * (_FIRST + 4)}and {rows.more} more that differ"


def _assumption(one: Assumption) -> str:
    """The assumption, and at the right edge the line of code that made it, where it fits."""
    indent = _FIRST + 4
    left = cut_right(clean(one.text), WIDTH - indent)
    room = WIDTH - indent - len(left) - 3
    right = place(one.place, 0)
    right = right.rpartition("/")[2] if len(right) > room else right
    gap = WIDTH - indent - len(left) - len(right)
    return " " * indent + (f"{left}{' ' * gap}{right}" if right and len(right) <= room else left)


def paragraph(words: str, indent: int) -> Iterable[str]:
    """Text of any length, wrapped, every row indented, the later ones a little more."""
    first, later = " " * indent, " " * (indent + 2)
    rows = wrap(clean(words), WIDTH, initial_indent=first, subsequent_indent=later)
    return rows or [""]
