"""Starting late and stopping early: regions and entries that were there before, hooks taken out.

Entries compiled before the recorder have no counter. Where the interpreter can count
their runs, it does from here on; where it cannot, the capability table says so, and
totals that would need them are left unseen, never guessed.
"""

from __future__ import annotations

import dataclasses
import gc
from types import FunctionType
from typing import TYPE_CHECKING, Any

from compile_ledger.facts.environment import Capability
from compile_ledger.observe.capabilities import MissingError, need
from compile_ledger.observe.hooks.entries import SUSPENDS
from compile_ledger.observe.hooks.regions import (
    add_hook,
    add_region,
    name_region,
    region_of,
    remove_hooks,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import CodeType

    from compile_ledger.observe.capabilities import Capabilities

    from .session import Session

EARLIER = "entries-before"


def adopt(session: Session, capabilities: Capabilities) -> list[Any]:
    """Hook the regions that exist already, and note the entries that cannot be counted.

    Returns the contexts of regions that are new to us, for :func:`tell`; writes nothing,
    so that the capability table is whole before the header is written.
    """
    made = [context for context in _contexts() if _is_region(context)]
    unhooked = [context for context in made if region_of(context) is None]
    known = {id(r.context()): r for r in session.regions if r.context is not None}
    fresh = [context for context in unhooked if id(context) not in known]
    for context in unhooked:
        if id(context) in known:
            add_hook(session, known[id(context)], context)
        else:
            add_region(session, context, None).root_next = False
    session.contained(_note_entries, session, capabilities, bool(fresh))
    return fresh


def tell(session: Session, fresh: list[Any]) -> None:
    """Write what :func:`adopt` found."""
    for state in list(session.codes.values()):
        if state.fact.uncounted:
            state.told = True
            session.sink.write(state.fact)
    if fresh:
        _name(session, fresh)


def _contexts() -> list[Any]:
    from torch._dynamo import eval_frame

    kind = eval_frame.OptimizeContext
    return [found for found in gc.get_objects() if type(found) is kind]


def _is_region(context: Any) -> bool:
    return isinstance(getattr(context, "enter_exit_hooks", None), list)


def _name(session: Session, contexts: list[Any]) -> None:
    """Find what each context compiles, by the functions that torch.compile returned."""
    wanted = {id(context): context for context in contexts}
    for function in gc.get_objects():
        if type(function) is not FunctionType:
            continue
        target = function.__dict__.get("_torchdynamo_orig_callable")
        context = None if target is None else _context_of(function)
        if context is not None and id(context) in wanted:
            state = region_of(wanted.pop(id(context)))
            if state is not None:
                session.contained(name_region, session, state, context, target)
                if session.run_watch is not None:
                    from .earlier import find_root

                    session.contained(find_root, session, state)


def _context_of(function: FunctionType) -> Any:
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=False)
    return next((cell.cell_contents for name, cell in cells if name == "self"), None)


def _note_entries(session: Session, capabilities: Capabilities, earlier: bool) -> None:  # noqa: FBT001
    """Find the entries that were there before, by code object; a reset drops them."""
    session.uncounted = False
    capabilities.table.pop(EARLIER, None)
    for state in session.codes.values():
        state.fact = dataclasses.replace(state.fact, uncounted=0)
    try:
        number = sum(_note(session, code) for code in _seen_codes())
    except MissingError:
        session.uncounted = earlier
        number = int(earlier)
    session.uncounted = session.uncounted or number > 0
    shows = "runs of entries older than the recording"
    if session.uncounted:
        why = f"{number} or more entries were compiled before the recording began: not counted"
        capabilities.table[EARLIER] = Capability(EARLIER, present=False, why=why, shows=shows)
    elif any(entry.watched for entry in session.entries):
        shows = f"{shows}, from its start on"
        capabilities.table[EARLIER] = Capability(EARLIER, present=True, shows=shows)
        _begin_lookups(session)


def _begin_lookups(session: Session) -> None:
    """Lookups so far that nothing explains hit earlier entries before these were watched."""
    session.lookups_base += session.silent() or 0


def _seen_codes() -> Iterator[CodeType]:
    from torch._dynamo import convert_frame

    need(convert_frame, "input_codes")
    need(convert_frame.input_codes, "seen")
    for reference in list(convert_frame.input_codes.seen):
        code = reference()
        if code is not None:
            yield code


def _note(session: Session, code: CodeType) -> int:
    from torch._C._dynamo import eval_frame

    counted = {id(e.new_code()) for e in session.entries if e.new_code is not None}
    entries = eval_frame._debug_get_cache_entry_list(code)  # noqa: SLF001
    strange = [entry for entry in entries if id(entry.code) not in counted]
    if not strange:
        return 0
    state = session.code_state(code)
    if session.run_watch is not None and not code.co_flags & SUSPENDS:
        from .earlier import watch_entries

        watch_entries(session, state, strange)
        return 0
    state.fact = dataclasses.replace(state.fact, uncounted=len(strange))
    return len(strange)


def remove(session: Session) -> None:
    """Take every patch, hook and handle out again, the last first."""
    while session.restore:
        session.contained(session.restore.pop())
    while session.hook_handles:
        session.contained(session.hook_handles.pop().remove)
    for context in _contexts():
        if _is_region(context):
            session.contained(remove_hooks, context)
