"""How many compiles are left before which limit, and the note that one is near."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from compile_ledger.facts.cache_line import Budget, LineReading
from compile_ledger.facts.compile import Compile
from compile_ledger.judge.cells import cell
from compile_ledger.judge.classify_guard.clean import plain
from compile_ledger.judge.document import Cell, Evidence, Finding
from compile_ledger.judge.instruments import instrument
from compile_ledger.judge.program_names import frame_name
from compile_ledger.judge.view import View
from compile_ledger.judge.words import count

from .causes import blamed, by_name, failures_of, key_of, noun_of, primary
from .reasons import entry_count
from .stream import Stream

NEAR = 2
"""Compiles left below which a limit is near, whatever the pace."""
LAST = 1
"""Compiles left at which the next new value, or the one after it, is refused: a warning."""

_NOUNS = {"dtype": "dtype", "device": "device", "dict-keys": "set of keys", "rank": "rank"}
"""What is new, where it is neither a length nor a value."""
_UNREAD = "no cache line was read at the end of the run"


def budget_cell(view: View) -> Cell:
    """``3 of 8 left before recompile_limit``, on the line that has least left."""
    read = [one for one in view.arm.cache_lines if one.line.state != "off"]
    known = [one for one in read if one.line.budget.left is not None]
    off = view.arm.cache_lines and not read
    least = min(known, key=lambda one: one.line.budget.left or 0, default=None)
    return cell(
        "budget",
        None if least is None else f"{_left(least.line.budget)} ({_frame(least)})",
        instrument("compile records", view.arm),
        "switched off: nothing is compiled any more" if off else _UNREAD,
    )


def limits_ahead(view: View, seen: tuple[Stream, ...]) -> Iterator[Finding]:
    """One note for each line that is still on and near its limit, or on its way there."""
    for reading in view.arm.cache_lines:
        line = reading.line
        left = line.budget.left
        if line.state != "on" or left is None or len(line.entries) <= 1:
            continue
        if left <= LAST:
            yield _warning(view, reading, left)
            continue
        pace = _pace(reading, seen)
        if pace or left <= NEAR:
            yield _note(view, reading, left, pace)


def used_up(event: Compile | None, used: int, limit: int, *, raises: bool = False) -> str:
    """What the next new value will do, of a line with at most one compile left.

    ``event``: the line's last recompile; ``raises``: whether the region is ``fullgraph``.
    """
    next_one = f"the next {_new(event)}"
    does = "raise, because of fullgraph=True" if raises else "run eagerly"
    if limit - used:
        next_one += " takes the last free entry, and the one after it"
    return f"{next_one} will {does}: {used} of {entry_count(limit)} are used"


def _new(event: Compile | None) -> str:
    """``new length of idx (axis 1)``, by what the last recompile was for.

    A size that it made symbolic brings no further one: then it is whatever no entry takes.
    """
    found = primary(event) if event else None
    failure = next((f for f in failures_of(event) if key_of(f) == found), None) if event else None
    if event is None or found is None or failure is None or not found.subject:
        return "call that no entry takes"
    dynamic = f"{found.subject}[{found.axis}]"
    if found.kind == "relation" or any(plain(one) == dynamic for one in event.made_dynamic):
        return "call that no entry takes"
    axis = f" (axis {found.axis})" if found.axis is not None else ""
    return f"new {_NOUNS.get(found.kind) or noun_of(found)} of {by_name(failure)}{axis}"


def _frame(reading: LineReading) -> str:
    return frame_name(reading.line.name, reading.line.file, (reading.target,))


def _warning(view: View, reading: LineReading, left: int) -> Finding:
    line = reading.line
    limit = line.budget.limit_value or 0
    on_code = view.events_on(reading.code_object)
    last = next((e for e in reversed(on_code) if e.outcome == "recompiled"), None)
    regions = [view.regions[number] for number in reading.regions if number in view.regions]
    full = any(region.compile_kwargs.get("fullgraph") == "True" for region in regions)
    said = used_up(last, limit - left, limit, raises=full)
    return replace(_note(view, reading, left, None), sentence=f"{_frame(reading)}: {said}")


def _pace(reading: LineReading, seen: tuple[Stream, ...]) -> tuple[int, int] | None:
    """Recompiles on this line in the tail of its stream, and the calls of the tail.

    Those with few possible values (a dtype, a flag) are left out: they end by nature.
    """
    for stream in seen:
        if stream.too_short or not set(stream.regions) & set(reading.regions):
            continue
        kept = [e for e in stream.events if e.compile.code_object == reading.code_object]
        tail = [e for e in kept if e.at is not None and e.at >= stream.tail_start]
        again = [e.compile for e in tail if e.compile.outcome == "recompiled"]
        made = sum(key is None or not key.bounded for _, key in blamed(again))
        return (made, stream.tail) if made > 1 else None
    return None


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
        f"{_frame(reading)} has {entry_count(len(line.entries) + line.more)} and "
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
