"""Keeps the calls of every region apart, for arms that need each call's disposition.

Not for production: a call costs some microseconds more. Calls are kept per
thread on a stack, because a region can be called inside another.
"""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any

from compile_ledger.facts.calls import Call, Disposition
from compile_ledger.observe.clock import children_cpu_ns
from compile_ledger.observe.hooks.own_code import ours
from compile_ledger.observe.stack import describe, lines_here, wrapper_frame

from .call_view import Brought, brought
from .disposition import worst
from .session import counted

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

    from compile_ledger.facts.compile import Compile
    from compile_ledger.observe.hooks.regions import RegionState

    from .session import EntryState, Session

KEPT = 100_000
"""Calls written one by one in a process; further ones are only counted."""


class OpenCall:
    """One region call in progress."""

    __slots__ = (
        "between",
        "brought",
        "children",
        "cpu",
        "depth",
        "frame",
        "graphs",
        "index",
        "lookups",
        "misses",
        "region",
        "runs",
        "shared",
        "stance",
        "started",
        "wall",
    )

    def __init__(self, region: RegionState, index: int, depth: int) -> None:
        self.region = region
        self.index = index
        self.depth = depth
        """0 for a call that the program made outside any other region's call."""
        self.runs: dict[str, int] = {}
        self.graphs = 0
        self.misses: list[Compile] = []
        self.shared = False
        self.frame: FrameType | None = None
        self.brought: Brought = ({}, {}, ())
        self.lookups: int | None = None
        self.stance = ""
        self.started = self.children = self.cpu = self.wall = 0
        self.between: int | None = None


class CallKeeper:
    """Opens and closes calls; ``watchers`` may look at each (experiments do)."""

    def __init__(self, session: Session, *, eager: bool = False) -> None:
        """Keep calls for ``session``; set it as ``session.calls`` before installing hooks.

        ``eager``: the process runs eager by request, so a call that shows nothing of the
        compiler has no disposition.
        """
        self.session = session
        self.eager = eager
        self.watchers: list[Any] = []
        """Objects with ``before(call)`` and, the last one first, ``after(call, fact)``."""
        self.paused = False
        """True while calls are timed by others: they are counted, and no more."""
        self.late: list[Compile] = []
        """Misses since then."""
        self.written = 0
        self.ended: int | None = None
        """CPU time of the process and its children when the last outermost call was over."""
        self.open: dict[int, list[OpenCall]] = {}

    def _stack(self) -> list[OpenCall]:
        local = self.session.local
        stack: list[OpenCall] | None = getattr(local, "calls", None)
        if stack is None:
            stack = local.calls = []
            self.open[self.session.thread_number()] = stack
        return stack

    def index_now(self) -> int | None:
        """The index of the innermost open call of this thread, None outside any."""
        stack = self._stack()
        return stack[-1].index if stack else None

    def entry_hook(self, entry: EntryState) -> Callable[[], None]:
        """What each run of an entry calls."""
        local = self.session.local

        def entry_ran() -> None:
            stack = getattr(local, "calls", None)
            if stack:
                call = stack[-1]
                key = f"{entry.code_object}:{entry.compile_id}"
                call.runs[key] = call.runs.get(key, 0) + 1
                if entry.has_graph:
                    call.graphs += 1

        return entry_ran

    def saw_miss(self, fact: Compile) -> None:
        """Note a miss under the call that it happened in."""
        if self.paused:
            self.late.append(fact)
        stack = self._stack()
        if stack:
            stack[-1].misses.append(fact)

    def enter_hook(self, region: RegionState) -> Callable[[], Callable[[], None]]:
        """The enter hook of a region: opens a call, and returns what closes it."""
        count = region.numbers.__next__
        contained = self.session.contained

        def enter() -> Callable[[], None]:
            if self.paused:
                count()
                return _nothing
            call = contained(self._begin, region, count())

            def leave() -> None:
                if call is not None:
                    contained(self._end, call, sys.exc_info()[1])

            return ours(leave)

        return enter

    @ours
    def _begin(self, region: RegionState, number: int) -> OpenCall:
        stack = self._stack()
        call = OpenCall(region, number - region.base, len(stack))
        if not stack and self.ended is not None:
            call.between = time.process_time_ns() + children_cpu_ns() - self.ended
        call.frame = wrapper_frame()
        given = self.session.contained(brought, call.frame, region.parameters())
        call.brought = given or call.brought
        call.stance = "" if self.session.stances is None else self.session.stances.name
        stack.append(call)
        self._note_others()
        for watcher in self.watchers:
            self.session.contained(watcher.before, call)
        call.lookups = self._lookups()
        call.started = self.session.now()
        call.children = children_cpu_ns()
        call.cpu = time.process_time_ns()
        call.wall = time.perf_counter_ns()
        return call

    def _lookups(self) -> int | None:
        lookups = self.session.lookups
        return None if lookups is None else counted(lookups)

    def _note_others(self) -> None:
        """Two threads inside regions: lookups, counted in total, belong to neither."""
        busy = [stack[-1] for stack in list(self.open.values()) if stack]
        if len(busy) > 1:
            for call in busy:
                call.shared = True

    @ours
    def _end(self, call: OpenCall, error: BaseException | None) -> None:
        wall = time.perf_counter_ns() - call.wall
        cpu = time.process_time_ns() - call.cpu + children_cpu_ns() - call.children
        after = self._lookups()
        stack = self._stack()
        if stack and stack[-1] is call:
            stack.pop()
        raised = error if _left_through(call, error) else None
        silent = self._silent(call, after)
        fact = Call(
            region=call.region.fact.id,
            index=call.index,
            disposition=self._disposition(call, silent, raised),
            wall_ns=wall,
            cpu_ns=cpu,
            between_cpu_ns=call.between,
            at_ns=call.started,
            runs=call.runs,
            graphs=call.graphs,
            silent=silent,
            sizes=call.brought[0],
            constants=call.brought[1],
            overlapping=call.brought[2],
            thread=self.session.thread_number(),
            raised=None if raised is None else describe(raised, lines_here().user),
            stance=call.stance,
            refused_by=self._refused_by(call) if silent else (),
        )
        self._name_root(call)
        self._write(fact)
        if stack:
            _add_to_outer(stack[-1], call)
        for watcher in reversed(self.watchers):
            self.session.contained(watcher.after, call, fact)
        call.frame = None
        if not stack:
            self.ended = time.process_time_ns() + children_cpu_ns()

    def _write(self, fact: Call) -> None:
        if self.written < KEPT:
            self.session.sink.write(fact)
        self.written += 1

    def _refused_by(self, call: OpenCall) -> tuple[str, ...]:
        stances = self.session.stances
        if stances is None or not call.stance:
            return ()
        return self.session.contained(stances.refused, call.region, call.frame) or ()

    def _silent(self, call: OpenCall, after: int | None) -> int | None:
        """Lookups that neither hit an entry nor reached Dynamo; None where that does not tell.

        Once a helper of the standard library's has an entry (``contextlib``, which DDP's own
        forward enters), what compiles looks it up, too.
        """
        if after is None or call.lookups is None or call.shared or self._helper_kept(call):
            return None
        kept = sum(miss.kept for miss in call.misses)
        hits = sum(call.runs.values()) - kept
        asked = sum(miss.entries_before > 0 for miss in call.misses)
        return max(0, after - call.lookups - hits - asked)

    def _helper_kept(self, call: OpenCall) -> bool:
        kept = [miss.code_object for miss in call.misses if miss.kept]
        if not kept:
            return False
        first = next(m.code_object for m in call.misses if m.outcome != "skipped")
        root = first if call.region.fact.root is None else call.region.fact.root
        codes = self.session.codes.values()
        return any(c.fact.library and c.fact.id in kept and c.fact.id != root for c in codes)

    def _disposition(
        self, call: OpenCall, silent: int | None, raised: BaseException | None
    ) -> Disposition | None:
        if self.eager and not call.runs and not call.misses:
            return None
        seen: set[str] = {miss.outcome for miss in call.misses}
        if raised is not None:
            seen.add("raised")
        if silent:
            seen.add("fell_back")
        root = call.region.fact.root
        bucket = call.region.bucket
        codes = self.session.codes.values()
        state = next((c.state_in(bucket) for c in codes if c.fact.id == root), "")
        if silent == 0 and state == "limit":
            state = "on"  # No lookup failed: it was not Dynamo that ran this call eagerly.
        return worst(seen, ran=bool(call.runs), root=state)

    def _name_root(self, call: OpenCall) -> None:
        """The region's first code object, from the first miss or run of its first call."""
        if call.region.fact.root is not None:
            return
        found = next((m.code_object for m in call.misses if m.outcome != "skipped"), None)
        if found is None and call.runs:
            found = int(next(iter(call.runs)).partition(":")[0])
        if found is not None:
            self.session.set_root(call.region, found)


@ours
def _nothing() -> None:
    """What runs after a call that is only counted."""


def _left_through(call: OpenCall, error: BaseException | None) -> bool:
    """Whether ``error`` is leaving this call, rather than being handled around it."""
    if error is None or call.frame is None:
        return False
    traceback = error.__traceback__
    while traceback is not None:
        if traceback.tb_frame is call.frame:
            return True
        traceback = traceback.tb_next
    return False


def _add_to_outer(outer: OpenCall, inner: OpenCall) -> None:
    for key, count in inner.runs.items():
        outer.runs[key] = outer.runs.get(key, 0) + count
    outer.graphs += inner.graphs
    outer.misses.extend(inner.misses)
