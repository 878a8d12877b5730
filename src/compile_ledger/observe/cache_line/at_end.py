"""Reads the cache lines of a process that a recorder watched, at the end of its run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from types import CodeType
from typing import Any

from compile_ledger.facts.cache_line import (
    Budget,
    CodeLine,
    Count,
    Entry,
    LineReading,
    Parameter,
    Role,
)
from compile_ledger.observe.recording.session import CodeState, EntryState, Session, Stop

from .attempts import Attempt, attempts, frame_of
from .budget import budget_of
from .entry import as_entry
from .fold import Room, fold
from .lookup import compile_id, raw_entries
from .parameters import parameters, parameters_of_code
from .state import State, code_state
from .target import Target, resolve

MOST_LINES = 64
"""Code objects whose lines are read."""
MOST_ENTRIES = 64
"""Entries of one code object that are read; the others are counted."""

_STATES: dict[str, Any] = {"on": "on", "off": "off", "limit": "run-only"}
_BOUND = ("module", "module.compile", "method")


@dataclass
class Reader:
    """One process's lines while they are read: what it may still cost, what is known."""

    session: Session
    known: list[Attempt]
    recorded: dict[int, EntryState]
    """What the recorder counts of an entry, by ``id`` of the code that it put its counter in."""
    roots: dict[int, list[Any]]
    """Regions by the code object that they enter first."""
    torch: str
    room: Room = field(default_factory=Room)
    calls: dict[int, int] = field(default_factory=dict)
    """Calls of the regions that use a code object, by its number."""


def readings(session: Session) -> Iterator[LineReading]:
    """The line of each code object that has entries, in the order of their first sight.

    What cannot be read is counted as lost evidence. Nothing is compiled or changed.
    """
    if not any(region.calls for region in session.regions):
        return
    import torch

    reader = Reader(
        session, attempts(), _recorded(session), _roots(session), str(torch.__version__)
    )
    number = 0
    for state in list(session.codes.values()):
        code = state.code()
        for bucket in () if code is None else _buckets(code):
            number += 1
            if number > MOST_LINES:
                return
            found = session.contained(read_line, reader, state, code, bucket)
            if found is not None:
                yield found


def _roots(session: Session) -> dict[int, list[Any]]:
    """A region that was compiled before the recording is known by its target alone."""
    found: dict[int, list[Any]] = {}
    for region in session.regions:
        number = region.fact.root
        if number is None and region.calls:
            target = _resolved(region)
            state = None if target is None else session.codes.get(id(target.code))
            number = None if state is None else state.fact.id
        if number is not None:
            found.setdefault(number, []).append(region)
    return found


def _buckets(code: CodeType) -> list[int]:
    """The buckets of ``isolate_recompiles`` that hold entries of a code object."""
    from torch._C._dynamo import eval_frame

    found = eval_frame._debug_get_cache_entry_list(code)  # noqa: SLF001
    return sorted({int(getattr(entry, "isolate_recompiles_id", -1)) for entry in found})


def read_line(reader: Reader, state: CodeState, code: CodeType, bucket: int) -> LineReading:
    """The line of one code object as the regions of one bucket ask it."""
    number = state.fact.id
    role, regions = _regions(reader, number, state, bucket)
    first = regions[0] if regions else None
    context = first.context() if first is not None and first.context is not None else None
    raw = [e for e in raw_entries(code, bucket) if _bucket_of(e) == bucket]
    frame = frame_of(code, map(compile_id, raw), reader.known)
    told = code_state(code, Target(None, "", context=context), frame, reader.known)
    now = _state(state, bucket, told)
    line = CodeLine(
        name=code.co_name,
        file=code.co_filename,
        line=code.co_firstlineno,
        role=role,
        entries=tuple(_entry(reader, number, entry, code) for entry in raw[:MOST_ENTRIES]),
        state=now.state,
        since=now.since,
        state_why=now.why,
        budget=_budget(state.stopped.get(bucket)) or budget_of(code, frame, context, bucket),
        parameters=_parameters(first, code) if role == "root" else (),
        more=len(raw[MOST_ENTRIES:]),
    )
    return LineReading(
        number,
        fold(line, reader.room),
        first.fact.target if first is not None else "",
        tuple(region.fact.id for region in regions),
        reader.torch,
    )


def _bucket_of(entry: Any) -> int:
    return int(getattr(entry, "isolate_recompiles_id", -1))


def _regions(reader: Reader, number: int, state: CodeState, bucket: int) -> tuple[Role, list[Any]]:
    """What the code object is to the regions that use it, and those regions."""
    roots = [r for r in reader.roots.get(number, ()) if _is_in(r, bucket)]
    if roots:
        return "root", roots
    session = reader.session
    facts = [e.fact for e in session.entries if e.code_object == number and e.fact is not None]
    made = {fact.region for fact in facts}
    inside = [r for r in session.regions if r.fact.id in made and _is_in(r, bucket)]
    return ("resume" if state.fact.resume_of else "called"), inside


def _resolved(region: Any) -> Target | None:
    """What a region compiled, as long as it exists."""
    try:
        target = region.target()
        return None if target is None else resolve(target)
    except (TypeError, AttributeError):
        return None


def _is_in(region: Any, bucket: int) -> bool:
    """Whether a region uses this bucket."""
    return bool(region.bucket == bucket)


def _budget(stop: Stop | None) -> Budget | None:
    """Nothing is left after a limit, whatever this thread's setting says."""
    if stop is None or stop.state != "limit" or stop.limit is None:
        return None
    return Budget(0, stop.why, stop.limit)


def _state(seen: CodeState, bucket: int, told: State) -> State:
    """What the recorder saw happen goes before what the runtime still remembers."""
    stop = seen.stopped.get(bucket)
    if stop is None:
        # A recorder that was there from the first entry on would have seen it stop.
        return told if seen.fact.uncounted and told.state != "unknown" else State("on")
    why = told.why if told.since == stop.since else stop.why
    return State(_STATES[stop.state], stop.since, why)


def _dead(session: Session, number: int, entry: Entry) -> EntryState | None:
    """The entry whose code is gone with its guards, by its compile id; the latest of that id."""
    if entry.valid or not entry.compile_id:
        return None
    dead = (e for e in reversed(session.entries) if e.died and e.code_object == number)
    return next((e for e in dead if e.compile_id.partition("~")[0] == entry.compile_id), None)


def _entry(reader: Reader, number: int, raw: Any, code: CodeType) -> Entry:
    session = reader.session
    entry = as_entry(raw, code, reader.known, {}, guards=session.unread > 0)
    session.unread -= len(entry.guards)
    known = reader.recorded.get(id(raw.code)) or _dead(session, number, entry)
    if known is None:
        return entry
    died = known.died
    if number not in reader.calls:
        reader.calls[number] = session.calls_on(number)
    if not entry.valid and died is not None and died.calls == reader.calls[number]:
        entry = died.entry  # No call has asked it since: it was there to the last one.
    ops = entry.graph_ops if known.graph_ops is None else Count(known.graph_ops)
    return replace(entry, compile_id=known.compile_id, runs=Count(known.runs), graph_ops=ops)


def _recorded(session: Session) -> dict[int, EntryState]:
    found = ((entry.new_code, entry) for entry in list(session.entries))
    codes = ((None if made is None else made(), entry) for made, entry in found)
    return {id(code): entry for code, entry in codes if code is not None}


def _parameters(region: Any, code: CodeType) -> tuple[Parameter, ...]:
    found = _resolved(region)
    if found is not None and found.code is code:
        return parameters(found)
    return parameters_of_code(code, bound=region.fact.kind in _BOUND)
