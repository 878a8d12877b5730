"""Starts of code that carries no counter of ours, counted by the interpreter.

``sys.monitoring`` (Python 3.12) calls us when a code object begins to run. It is asked
for two kinds of code objects only, one by one: those that a limit refused, which run
eagerly from then on without a word, and compiled entries older than the recording. All
other code runs as before: a region that stays compiled pays nothing.
"""

from __future__ import annotations

import functools
import sys
import weakref
from typing import TYPE_CHECKING, Any

from compile_ledger.facts.calls import EagerRuns
from compile_ledger.observe.capabilities import MissingError, need
from compile_ledger.observe.recording.session import counted, counter

from .own_code import ours

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType

    from compile_ledger.observe.recording.session import CodeState, EntryState, Session

    Count = Callable[[], object]

_TOOLS = (3, 4, 5)
"""Tool ids that we may take where they are free: debugger, coverage and profiler have 0 to 2."""
_address = object.__hash__
"""Tells code objects apart as ``id`` does, which costs a microsecond where a Python audit
hook is in place, as filelock leaves one. Their own hash is slow, and equal for one text."""
_RAN_EAGERLY = ("refused", "switched_off", "skipped")
"""Outcomes of a miss after which the frame's own code runs."""


def install(session: Session) -> None:
    """Take a tool id. Raises ``MissingError`` before Python 3.12, or where none is free."""
    from torch._C._dynamo import eval_frame

    monitoring = getattr(sys, "monitoring", None)
    if monitoring is None:
        msg = "sys.monitoring needs Python 3.12"
        raise MissingError(msg)
    need(eval_frame, "get_eval_frame_callback")
    watch = RunWatch(monitoring, _take_tool(monitoring), eval_frame.get_eval_frame_callback)
    session.run_watch = watch
    session.restore.append(functools.partial(_release, session, watch))
    for state in list(session.codes.values()):
        if any(stop.state == "limit" for stop in state.stopped.values()):
            watch.add_refused(state)


def _take_tool(monitoring: Any) -> int:
    for tool in _TOOLS:
        if monitoring.get_tool(tool) is None:
            monitoring.use_tool_id(tool, "compile-ledger")
            return tool
    msg = f"sys.monitoring has no free tool id: {_TOOLS[0]} to {_TOOLS[-1]} are in use"
    raise MissingError(msg)


def _release(session: Session, watch: RunWatch) -> None:
    """Stop counting; entries that only the interpreter counted are unknown again."""
    session.run_watch = None
    session.entries[:] = [entry for entry in session.entries if not entry.watched]
    watch.release()


class Refused:
    """One code object that a limit refused: its eager runs, and those that were announced."""

    __slots__ = ("announced", "bases", "runs", "watched")

    def __init__(self) -> None:
        self.runs = counter()
        """Runs inside regions."""
        self.announced = counter()
        """Misses after which the code ran: those runs are not silent."""
        self.bases = (0, 0)
        self.watched = False
        """False while a thread is about to set the events, or was interrupted there."""

    def now(self) -> tuple[int, int]:
        """Both counts, since they were made."""
        return counted(self.runs), counted(self.announced)

    def rebase(self) -> None:
        """Count from now: a fork's child."""
        self.bases = self.now()

    def since(self, number: int) -> EagerRuns:
        """The counts as a fact; a refused call that is about to run is not silent."""
        announced = counted(self.announced) - self.bases[1]
        runs = counted(self.runs) - self.bases[0]
        return EagerRuns(number, runs, max(0, runs - announced))


class RunWatch:
    """Holds one tool id, and the counters of the code objects watched under it."""

    def __init__(self, monitoring: Any, tool: int, region_callback: Callable[[], object]) -> None:
        """Watch nothing yet. ``region_callback``: torch's, None outside regions."""
        self.tool = tool
        self.refused: dict[int, Refused] = {}
        """By the code object's number."""
        self._monitoring = monitoring
        self._event = monitoring.events.PY_START
        self._codes: list[weakref.ref[CodeType]] = []
        self._counts: dict[int, tuple[Count, Count]] = {}
        """By address: what counts a run inside a region, and one outside. Never emptied:
        a run in another thread may be on its way."""
        monitoring.register_callback(tool, self._event, ours(_hook(self._counts, region_callback)))

    def _watch(self, code: CodeType, inside: Count, outside: Count) -> None:
        self._counts[_address(code)] = inside, outside
        self._codes.append(weakref.ref(code))
        self._monitoring.set_local_events(self.tool, code, self._event)

    def add_refused(self, state: CodeState) -> None:
        """Count the eager runs of a code object inside regions from now on."""
        code = state.code()
        known = self.refused.setdefault(state.fact.id, Refused())
        if code is None or known.watched:
            return
        self._watch(code, known.runs.__next__, counter().__next__)
        known.watched = True

    def add_entry(self, entry: EntryState, code: CodeType) -> None:
        """Count the runs of an entry's compiled code, which nothing but its region runs."""
        self._watch(code, entry.left.__next__, entry.left.__next__)

    @ours
    def note_miss(self, state: CodeState, outcome: str) -> None:
        """Watch what a limit refused; note that the run to come was announced."""
        if outcome == "refused":
            self.add_refused(state)
        known = self.refused.get(state.fact.id)
        if known is not None and outcome in _RAN_EAGERLY:
            next(known.announced)

    def read(self) -> tuple[EagerRuns, ...]:
        """The counts so far, by code object."""
        every = list(self.refused.items())
        return tuple(known.since(number) for number, known in every if known.watched)

    def rebase(self) -> None:
        """Count from now: a fork's child."""
        for known in self.refused.values():
            known.rebase()

    def release(self) -> None:
        """Take every event out, and give the tool id back."""
        for reference in self._codes:
            code = reference()
            if code is not None:
                self._monitoring.set_local_events(self.tool, code, 0)
        self._monitoring.register_callback(self.tool, self._event, None)
        self._monitoring.free_tool_id(self.tool)


def _hook(
    counts: dict[int, tuple[Count, Count]], region_callback: Callable[[], object]
) -> Callable[[CodeType, int], None]:
    """What the interpreter calls at each start of a watched code object.

    One C call counts, so threads need no lock.
    """
    address = _address

    def started(code: CodeType, _offset: int) -> None:
        counts[address(code)][region_callback() is None]()

    return started
