"""Notes of level STABLE: what settled, and lines that are shared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from compile_ledger.facts.compile import Compile
from compile_ledger.judge.classify_guard import KINDS
from compile_ledger.judge.document import Finding, FindingCost
from compile_ledger.judge.prices import compile_seconds
from compile_ledger.judge.slugs import recompile_slug
from compile_ledger.judge.view import View
from compile_ledger.judge.words import count, listed, short_seconds

from .along import changed_along
from .at_call import call_number
from .causes import Key, by_name, cause, failures_of, leading, primary
from .compile_in_loop import compiled_in_loop
from .guarded import guarded_at
from .limit_ahead import limits_ahead
from .reasons import quoted
from .recompile_findings import SHOWN, predicted
from .shared_line import shared_note, unrelated
from .stances import stance_notes
from .stream import Stream
from .values import some_values, value_at


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
    last = max((e.at for e in stream.events if e.at is not None), default=None)
    after = f", the last at call {last} of {stream.length}" if last is not None else ""
    found = leading(events)
    return Finding(
        id=f"settled:{region}",
        slug="settled",
        level="STABLE",
        severity="note",
        sentence=f"settled after {number}: {_summary(view, events, region)}{price}{after}",
        site=view.site(region, events[0].code_object),
        guarded=guarded_at(view, (f for event in events for f in failures_of(event))),
        subject=found.key.subject if found else "",
        axis=found.key.axis if found else None,
        expected=found.first.expected if found else "",
        actual=value_at(view, found.events[0], found.first) if found else "",
        count=len(events),
        cost=FindingCost(seconds=seconds, why="" if seconds is not None else "not measured"),
        evidence=(*quoted(view, events), *(predicted(found) if found else ())),
        region=region,
        code_object=events[0].code_object,
        cause=recompile_slug(found.key.kind) if found else "",
        first_call=call_number(view, events[0]),
    )


def _summary(view: View, events: Sequence[Compile], region: int) -> str:
    """``2 on a dtype (x: Float, Half), 1 on a tensor size (y, axis 0: 64, 20)``, by cause."""
    keys = Counter(primary(event) for event in events)
    return ", ".join(f"{n} on {_said(view, key, events, region)}" for key, n in keys.items())


def _said(view: View, key: Key | None, events: Sequence[Compile], region: int) -> str:
    if key is None:
        return "an unnamed guard"
    found = cause(key, events)
    if key.kind == "relation":
        return f"{KINDS[key.kind].title}: {found.first.detail}"
    said = key.worded(by_name(found.first), listed(some_values(view, found, region), SHOWN))
    return f"{said}{changed_along(view, found, region)}"
