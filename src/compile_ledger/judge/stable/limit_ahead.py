"""How many compiles are left before which limit, and the note that one is near."""

from __future__ import annotations

from collections.abc import Iterator

from compile_ledger.facts.cache_line import Budget, LineReading
from compile_ledger.facts.compile import Compile
from compile_ledger.judge.cells import cell
from compile_ledger.judge.document import Cell, Evidence, Finding
from compile_ledger.judge.instruments import instrument
from compile_ledger.judge.view import View
from compile_ledger.judge.words import count

from .causes import primary
from .reasons import entry_count
from .stream import Stream

NEAR = 2
"""Compiles left below which a limit is near, whatever the pace."""

_UNREAD = "no cache line was read at the end of the run"


def budget_cell(view: View) -> Cell:
    """``3 of 8 left before recompile_limit``, on the line that has least left."""
    read = [one for one in view.arm.cache_lines if one.line.state != "off"]
    known = [one for one in read if one.line.budget.left is not None]
    off = view.arm.cache_lines and not read
    least = min(known, key=lambda one: one.line.budget.left or 0, default=None)
    return cell(
        "budget",
        None if least is None else f"{_left(least.line.budget)} ({least.line.name})",
        instrument("compile records", view.arm),
        "switched off: nothing is compiled any more" if off else _UNREAD,
    )


def limits_ahead(view: View, seen: tuple[Stream, ...]) -> Iterator[Finding]:
    """One note for each line that is still on and near its limit, or on its way there."""
    for reading in view.arm.cache_lines:
        line = reading.line
        left = line.budget.left
        if line.state != "on" or not left or len(line.entries) <= 1:
            continue
        pace = _pace(reading, seen)
        if pace or left <= NEAR:
            yield _note(view, reading, left, pace)


def _pace(reading: LineReading, seen: tuple[Stream, ...]) -> tuple[int, int] | None:
    """Recompiles on this line in the tail of its stream, and the calls of the tail.

    Those with few possible values (a dtype, a flag) are left out: they end by nature.
    """
    for stream in seen:
        if stream.too_short or not set(stream.regions) & set(reading.regions):
            continue
        kept = [e for e in stream.events if e.compile.code_object == reading.code_object]
        tail = [e for e in kept if e.at is not None and e.at >= stream.tail_start]
        made = sum(e.compile.outcome == "recompiled" and not _bounded(e.compile) for e in tail)
        return (made, stream.tail) if made > 1 else None
    return None


def _bounded(event: Compile) -> bool:
    key = primary(event)
    return key is not None and key.bounded


def _note(view: View, reading: LineReading, left: int, pace: tuple[int, int] | None) -> Finding:
    line = reading.line
    region = reading.regions[0] if reading.regions else None
    when = ""
    if pace is not None:
        made, tail = pace
        calls = -(-(left + 1) * tail // made)
        when = (
            f"; at the pace of the last {count(tail, 'call')} ({count(made, 'recompile')}) "
            f"a call is refused in about {count(calls, 'call')}"
        )
    said = (
        f"{line.name} has {entry_count(len(line.entries) + line.more)} and "
        f"{_left(line.budget)}{when}; then calls that no entry takes run eagerly, unannounced"
    )
    return Finding(
        id=f"limit-ahead:{reading.code_object}",
        slug="limit-ahead",
        level="STABLE",
        severity="note",
        sentence=said,
        site=view.site(region, reading.code_object),
        subject=line.budget.limit,
        expected=f"at most {line.budget.limit_value}",
        actual=f"{left} left",
        evidence=(
            Evidence(instrument("cache lines", view.arm), _left(line.budget), arm=view.arm.name),
        ),
        region=region,
        code_object=reading.code_object,
    )


def _left(budget: Budget) -> str:
    return f"{budget.left} of {budget.limit_value} left before {budget.limit}"
