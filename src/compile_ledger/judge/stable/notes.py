"""Notes of level STABLE: what settled, and lines that are shared."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from compile_ledger.facts.compile import Compile
from compile_ledger.judge.document import Finding, FindingCost
from compile_ledger.judge.prices import compile_seconds
from compile_ledger.judge.slugs import recompile_slug
from compile_ledger.judge.view import View
from compile_ledger.judge.words import count, short_seconds

from .at_call import call_number
from .causes import causes, failures_of, leading
from .compile_in_loop import compiled_in_loop
from .guarded import guarded_at
from .limit_ahead import limits_ahead
from .reasons import against_nearest, quoted
from .recompile_findings import cause_rows, cause_words, predicted
from .recurrence import ending
from .shared_line import shared_note, unrelated
from .stances import stance_notes
from .stream import Stream


def notes(view: View, seen: tuple[Stream, ...], *, failed: bool) -> tuple[Finding, ...]:
    """The notes of an arm; settling is said only where nothing failed."""
    shared = [shared_note(view, code) for code in view.roots if _note_shared(view, code)]
    ahead = limits_ahead(view, seen)
    loops = compiled_in_loop(view)
    stances = stance_notes(view)
    return (*shared, *ahead, *loops, *stances, *(() if failed else _settled(view, seen)))


def _note_shared(view: View, code: int) -> bool:
    hit = any(c.hit_limit for c in view.events_on(code))
    return not hit and unrelated(view, code)


def recompiled(stream: Stream) -> tuple[Compile, ...]:
    """The recompiles of a stream that left an entry."""
    return tuple(e.compile for e in stream.events if e.compile.outcome == "recompiled")


def settled_words(seen: tuple[Stream, ...]) -> str:
    """``no recompile in 13 calls``: for a stream that compiled once and was reused."""
    calls = sum(stream.length for stream in seen)
    compiles = sum(event.compile.kept for stream in seen for event in stream.events)
    return f"{count(compiles, 'compile')}, no recompile in {count(calls, 'call')}"


def _settled(view: View, seen: tuple[Stream, ...]) -> Iterator[Finding]:
    for stream in seen:
        events = recompiled(stream)
        if events and not stream.too_short:
            yield _note(view, stream, events)


def _note(view: View, stream: Stream, events: tuple[Compile, ...]) -> Finding:
    region = stream.regions[0]
    number = count(len(events), "recompile")
    seconds = compile_seconds(view, events)
    price = f", {short_seconds(seconds)} of CPU" if seconds is not None else ""
    found = leading(events)
    open_ = bool(ending(stream).late)
    head = f"{number} so far" if open_ else f"settled after {number}"
    return Finding(
        id=f"{'recompiled' if open_ else 'settled'}:{region}",
        slug="recompiled" if open_ else "settled",
        level="STABLE",
        severity="note",
        sentence=f"{head}: {_summary(view, events, region)}{price}{_last(stream)}",
        site=view.site(region, events[0].code_object),
        guarded=guarded_at(view, (f for event in events for f in failures_of(event))),
        subject=found.key.subject if found else "",
        axis=found.key.axis if found else None,
        expected=found.first.expected if found else "",
        actual=found.first.actual if found else "",
        count=len(events),
        cost=FindingCost(seconds=seconds, why="" if seconds is not None else "not measured"),
        evidence=(
            *against_nearest(view, events),
            *quoted(view, events),
            *(predicted(found) if found else ()),
        ),
        region=region,
        code_object=events[0].code_object,
        cause=recompile_slug(found.key.kind) if found else "",
        first_call=call_number(view, events[0]),
        causes=cause_rows(view, events, region),
    )


def _summary(view: View, events: Sequence[Compile], region: int) -> str:
    """``2 on a dtype (x: float32, float16), 1 on a tensor size (y, axis 0: 64, 20)``, by cause."""
    found = causes(events)
    said = [f"{one.compiles} on {cause_words(view, one, region)}" for one in found]
    unnamed = len(events) - sum(one.compiles for one in found)
    return ", ".join([*said, *([f"{unnamed} on an unnamed guard"] if unnamed else [])])


def _last(stream: Stream) -> str:
    """The last compile, and why it counts as the last where it is in the tail."""
    last = max((e.at for e in stream.events if e.at is not None), default=None)
    if last is None:
        return ""
    said = f", the last at call {last} of {stream.length}"
    if last < stream.tail_start or ending(stream).late:
        return said
    return f"{said}, on a guard with few possible values"
