"""The order of what happens: a ring of events, read at an interval into spans of calls.

An event is one tuple, appended in C by each entry's run and in Python by each call of a
region. When the ring overflows between two readings, its oldest events are gone; gaps
in the calls' numbers say so.
"""

from __future__ import annotations

import sys
from _thread import get_ident
from collections import deque
from typing import TYPE_CHECKING, Any

from compile_ledger.facts.timeline import Timeline

from .spans import ENTER, LEAVE, MISS, Reader

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType

    from compile_ledger.facts.compile import Compile
    from compile_ledger.observe.hooks.regions import RegionState

    from .session import EntryState, Session

MOST_SPANS = 200_000
"""Spans written by a process; later ones are only counted as lost."""


class EventRing:
    """The ring of one process."""

    def __init__(self, session: Session, size: int) -> None:
        """Keep the last ``size`` events between two readings."""
        self.session = session
        self.ring: deque[tuple[Any, ...]] = deque(maxlen=size)
        self.blind = False
        """Whether runs are unseen, because entries were there before: nothing is written."""
        self._reader = Reader()
        self._left = MOST_SPANS

    def clear(self) -> None:
        """Start anew, in a fork's child or a new recording."""
        self.ring.clear()
        self._reader = Reader()

    def enter_hook(
        self, state: RegionState, timed: Callable[[int], Callable[[], Any] | None]
    ) -> Callable[[], Callable[[], Any]]:
        """The enter hook of a region; ``timed`` begins the timing of a sampled call."""
        count, append = state.numbers.__next__, self.ring.append
        lookups = self.session.lookups
        left: Callable[[], int | None] = {}.clear if lookups is None else lookups.__length_hint__

        def enter() -> Callable[[], Any]:
            number = count()
            handled = sys.exc_info()[1]
            append((ENTER, get_ident(), state, number, left()))
            timing = timed(number)

            def leave(_number: int = number) -> None:
                if timing is not None:
                    timing()
                raised = sys.exc_info()[1] is not handled
                append((LEAVE, get_ident(), state, number, left(), raised))

            return leave

        return enter

    def with_event(self, code: CodeType, entry: EntryState) -> CodeType:
        """``code``, appending ``(entry, thread)`` to the ring first."""
        from torch._dynamo import bytecode_transformation as bytecode

        from compile_ledger.observe.hooks.entries import load, with_instructions

        return with_instructions(
            code,
            lambda: [
                *load(bytecode, self.ring.append),
                bytecode.create_load_const(entry, checked=False)
                if hasattr(bytecode, "create_load_const")
                else bytecode.create_instruction("LOAD_CONST", argval=entry),
                *load(bytecode, get_ident),
                *bytecode.create_call_function(0, push_null=False),
                bytecode.create_instruction("BUILD_TUPLE", arg=2),
                *bytecode.create_call_function(1, push_null=False),
                bytecode.create_instruction("POP_TOP"),
            ],
        )

    def saw_miss(self, fact: Compile, *, asked: bool) -> None:
        """Note a frame that reached Dynamo."""
        self.ring.append((MISS, get_ident(), fact.code_object, fact.outcome, fact.kept, asked))

    def flush(self) -> None:
        """Read the ring, and write the calls that ended."""
        pop = self.ring.popleft
        take = self._reader.take
        for _ in range(len(self.ring)):
            try:
                event = pop()
            except IndexError:
                break
            take(event)
        spans = self._reader.ended()
        if not spans or self.blind:
            return
        if self._left < len(spans):
            self.session.sink.lose("timeline", OverflowError("more spans than are written"))
            return
        self._left -= len(spans)
        self.session.sink.write(Timeline(self.session.now(), spans))
