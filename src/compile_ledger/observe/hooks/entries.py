"""H3: entry runs. Each compiled entry gets a prologue that counts its runs, in C.

``convert_frame.register_bytecode_hook`` hands us the code that Dynamo made; we
give it back with four instructions more. Resume functions and inner frames are
counted too. Costs 30 to 60 ns a run (docs/recording.md).
"""

from __future__ import annotations

import dataclasses
import inspect
import sys
import weakref
from typing import TYPE_CHECKING, Any

from compile_ledger.facts.environment import Capability
from compile_ledger.observe.capabilities import need
from compile_ledger.observe.recording.session import EntryState, Session

from .own_code import ours

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType

    from compile_ledger.observe.recording.session import CodeState

SUSPENDS = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
_SUSPENDED = Capability(
    "entries-that-suspend",
    present=False,
    why="a generator's or coroutine's frame has no room for a counter",
    shows="runs of entries of generators and coroutines",
)
"""Python makes such a frame as large as the original code needs. Dynamo's own code
already outgrows it (torch 2.13 writes past its end there, with and without us)."""
GRAPH_PREFIX = "__compiled_fn"
"""How torch names the functions that hold its graphs."""
_HAS_RESUME = sys.version_info >= (3, 11)


def install(session: Session) -> None:
    """Register the bytecode hook. Raises ``MissingError`` on a torch without it."""
    from torch._dynamo import bytecode_transformation, convert_frame

    need(bytecode_transformation, "transform_code_object")
    need(convert_frame, "register_bytecode_hook")

    def hook(code: CodeType, out: CodeType) -> CodeType | None:
        return session.contained(_count_entry, session, code, out)

    session.hook_handles.append(convert_frame.register_bytecode_hook(ours(hook)))


@ours
def _count_entry(session: Session, code: CodeType, out: CodeType) -> CodeType:
    state = session.code_state(code)
    if code.co_flags & SUSPENDS:
        _leave_uncounted(session, state)
        return out
    session.tell(state)
    number = state.fact.id
    entry = EntryState(number, session.unique_id(number, current_compile_id()))
    entry.calls_graph = entry.has_graph = calls_graph(out)
    new = with_prologue(out, entry.left.__next__)
    if session.calls is not None:
        new = with_prologue(new, ours(session.calls.entry_hook(entry)))
    if session.timeline is not None:
        new = session.timeline.with_event(new, entry)
    entry.new_code = weakref.ref(new)
    session.entries.append(entry)
    return new


def _leave_uncounted(session: Session, state: CodeState) -> None:
    """Say that an entry of this code object has no counter, so that no total is guessed."""
    session.uncounted = True
    state.fact = dataclasses.replace(state.fact, uncounted=state.fact.uncounted + 1)
    state.told = False
    session.tell(state)
    session.sink.write(_SUSPENDED)


def calls_graph(code: CodeType) -> bool:
    """Whether the compiled code of an entry calls a graph."""
    return any(name.startswith(GRAPH_PREFIX) for name in code.co_names)


def current_compile_id() -> str:
    """The compile id of the compile in progress on this thread, ``""`` outside one."""
    from torch._guards import CompileContext

    found = CompileContext.current_compile_id()
    return "" if found is None else str(found)


def with_prologue(code: CodeType, function: Callable[[], Any]) -> CodeType:
    """``code``, calling ``function`` first and dropping its result."""
    from torch._dynamo import bytecode_transformation as bytecode

    return with_instructions(
        code,
        lambda: [
            *load(bytecode, function),
            *bytecode.create_call_function(0, push_null=False),
            bytecode.create_instruction("POP_TOP"),
        ],
    )


def with_instructions(code: CodeType, make: Callable[[], list[Any]]) -> CodeType:
    """``code`` with instructions put before its own.

    They come from torch's own assembler, which knows the Python it runs on (checked on
    3.10 to 3.13).
    """
    from torch._dynamo import bytecode_transformation as bytecode

    def transform(instructions: list[Any], _options: dict[str, Any]) -> None:
        at = 0
        if _HAS_RESUME:
            names = [instruction.opname for instruction in instructions]
            at = names.index("RESUME") + 1
        instructions[at:at] = make()

    result = bytecode.transform_code_object(code, transform)
    made: CodeType = result[0] if isinstance(result, tuple) else result
    return made


def load(bytecode: Any, function: Callable[..., Any]) -> list[Any]:
    """Instructions that load a function, ready to be called."""
    if hasattr(bytecode, "create_load_const"):
        const = bytecode.create_load_const(function, checked=False)
    else:
        const = bytecode.create_instruction("LOAD_CONST", argval=function)
    if not _HAS_RESUME:
        return [const]
    if hasattr(bytecode, "add_push_null"):
        return list(bytecode.add_push_null([const]))
    return [bytecode.create_instruction("PUSH_NULL"), const]


def entry_of(session: Session, new_code: CodeType) -> EntryState | None:
    """The entry whose compiled code this is."""
    for entry in reversed(session.entries):
        if entry.new_code is not None and entry.new_code() is new_code:
            return entry
    return None
