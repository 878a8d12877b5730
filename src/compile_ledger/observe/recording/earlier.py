"""Entries that were compiled before the recording: the interpreter counts their runs.

What made them was not seen. A fact says that they were there, with what the runtime
still knows of them; a limit that was hit before is known from the runtime's own records.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

from compile_ledger.facts.compile import Compile
from compile_ledger.observe.cache_line.attempts import attempts, frame_of
from compile_ledger.observe.cache_line.entry import as_entry
from compile_ledger.observe.cache_line.lookup import compile_id
from compile_ledger.observe.cache_line.state import state_of
from compile_ledger.observe.cache_line.target import resolve
from compile_ledger.observe.hooks.entries import calls_graph

from .session import EntryState

if TYPE_CHECKING:
    from compile_ledger.observe.cache_line.attempts import Attempt
    from compile_ledger.observe.hooks.regions import RegionState

    from .session import CodeState, Session


def watch_entries(session: Session, state: CodeState, found: list[Any]) -> None:
    """Count the runs of entries without a counter, and of their code past a limit."""
    code, watch = state.code(), session.run_watch
    if code is None or watch is None:
        return
    known = attempts()
    state.told = True
    for raw in found:
        if raw.code is not None:
            entry = _entry(session, state, raw, known)
            watch.add_entry(entry, raw.code)
            session.entries.append(entry)
    names = [compile_id(raw) for raw in found]
    if state_of(frame_of(code, names, known), names, known).state == "run-only":
        watch.add_refused(state)


def _entry(session: Session, state: CodeState, raw: Any, known: list[Attempt]) -> EntryState:
    number = state.fact.id
    entry = EntryState(number, session.unique_id(number, compile_id(raw)))
    entry.calls_graph = calls_graph(raw.code)
    entry.note_ops(as_entry(raw, raw.code, known, {}, guards=False).graph_ops.value)
    entry.new_code = weakref.ref(raw.code)
    entry.inherited = entry.watched = True
    entry.fact = Compile(
        code_object=number,
        outcome="compiled",
        compile_id=entry.compile_id,
        graph_ops=entry.graph_ops,
        calls_graph=entry.calls_graph,
        inherited=True,
    )
    return entry


def find_root(session: Session, region: RegionState) -> None:
    """Note the code object that a region enters first, where its entries are counted."""
    try:
        code = resolve(region.target()).code
    except (TypeError, AttributeError):  # Gone, or no Python function.
        return
    state = session.codes.get(id(code))
    watched = {entry.code_object for entry in session.entries if entry.watched}
    if state is not None and state.code() is code and state.fact.id in watched:
        region.first_code = state.fact.id
        session.set_root(region, state.fact.id)
