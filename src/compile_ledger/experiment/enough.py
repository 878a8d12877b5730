"""When an arm has seen enough of a program that goes on: the rule that docs/experiments.md states.

A program that ends by itself within :data:`LONG` seconds of its first region call runs
whole. Of a longer one the first eager arm sees some calls, and every other arm the same
ones, unless it can tell sooner.
"""

from __future__ import annotations

import os
import time
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, field
from math import ceil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from compile_ledger.facts.calls import Call
    from compile_ledger.observe.recording.calls import OpenCall

LONG = 60.0
"""Seconds after the first region call in which nothing is ended. A region that was not
called for as long has ended: nothing waits for it."""
PATIENCE = 180.0
"""Seconds after the first region call in which a region with few calls is waited for."""
SLOW = 300.0
"""Seconds after which a compiled arm ends that is far behind eager."""
CALLS = 12
"""Calls of a region that suffice: eight are compared, and a tail of four can settle."""
FEW = 6
"""Calls that must do where a call takes half a minute."""
_COMPILES = ("compiled", "recompiled", "refused", "raised")


@dataclass(frozen=True)
class Prefix:
    """The calls of a program that one arm is to see, from the first."""

    calls: int = 0
    """Outermost calls that the eager arm saw; 0: this is the eager arm, which decides."""
    settle: bool = False
    """A compiled arm: sooner when every stream has settled, later (up to twice the calls)
    when one has not."""
    long: float = LONG
    """Seconds of the program that are never cut."""


@dataclass
class Stream:
    """The outermost calls of one region, or of all."""

    name: str = ""
    calls: int = 0
    last: float = 0.0
    """When the last one ended."""
    compiled: list[int] = field(default_factory=list)
    """The numbers of the calls that compiled."""

    def take(self, now: float, *, compiled: bool) -> None:
        """One more call."""
        if compiled:
            self.compiled.append(self.calls)
        self.calls += 1
        self.last = now

    @property
    def settled(self) -> bool:
        """No compile in the tail: at least 3 calls and a third of the stream, as in STABLE."""
        return not self.compiled or self.compiled[-1] < self._tail(3)

    @property
    def failing(self) -> bool:
        """Half of the calls of a long tail still compile: it will not settle."""
        start = self._tail(8)
        late = len(self.compiled) - bisect_left(self.compiled, start)
        return self.calls >= CALLS and 2 * late >= self.calls - start

    def _tail(self, least: int) -> int:
        return self.calls - max(least, ceil(self.calls / 3))


class Enough:
    """A watcher that counts outermost calls and knows when they suffice."""

    def __init__(
        self,
        prefix: Prefix | None,
        end: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Call ``end`` with the reason, once; with no prefix, never. ``clock`` is in seconds."""
        self.prefix = prefix
        self.long = LONG if prefix is None else prefix.long
        self.most: int | None = None
        """Outermost calls that were asked for; then nothing else ends the arm."""
        self.end = end
        self.clock = clock
        self._pid = os.getpid()
        self.all = Stream()
        self.regions: dict[int, Stream] = {}
        self.first: float | None = None
        """When the first call ended: compiling it is not counted as time."""

    def before(self, call: OpenCall) -> None:
        """Nothing is needed before a call."""

    def after(self, call: OpenCall, fact: Call) -> None:
        """Count an outermost call; end the arm where that was enough."""
        if call.depth or os.getpid() != self._pid:
            return
        now = self.clock()
        self.first = now if self.first is None else self.first
        mine = self.regions.setdefault(fact.region, Stream(call.region.fact.target))
        for stream in (self.all, mine):
            stream.take(now, compiled=fact.disposition in _COMPILES)
        why = self.why(now)
        if why:
            self.end(why)

    def why(self, now: float) -> str:
        """Why the calls so far are enough; empty while they are not."""
        if self.most is not None and self.all.calls >= self.most:
            return f"after the {self.most:,} calls asked for"
        if self.prefix is None or self.first is None:
            return ""
        calls, most, spent = self.all.calls, self.prefix.calls, now - self.first
        after = f"after {calls:,} calls in {spent:.0f} s"
        if not most:
            return after if spent >= self.long and self._compared(now, spent) else ""
        if spent >= SLOW and calls >= FEW:
            return after
        if not self.prefix.settle:
            return f"after the {calls:,} calls that were seen before" if calls >= most else ""
        return f"{after}{self._ended(now)}" if self._told(now, spent) else ""

    def _told(self, now: float, spent: float) -> bool:
        """Whether a compiled arm can tell if compiling has ended, or never will."""
        most = self.prefix.calls if self.prefix else 0
        if self.all.calls < most:
            settled = self._compared(now, spent) and not self._moving(now)
            return spent >= self.long and (settled or self.all.failing)
        can_settle = (s for s in self._moving(now) if s.calls >= FEW and not s.failing)
        return self.all.calls >= 2 * most or not any(can_settle)

    def _ended(self, now: float) -> str:
        moving = any(stream.calls >= FEW for stream in self._moving(now))
        return ", still compiling" if moving else ", compiling had ended"

    def _moving(self, now: float) -> list[Stream]:
        return [stream for stream in self._live(now) if not stream.settled]

    def _compared(self, now: float, spent: float) -> bool:
        """Whether enough calls were compared and can be timed."""
        if spent >= PATIENCE:
            return self.all.calls >= FEW
        return all(stream.calls >= CALLS for stream in self._live(now))

    def _live(self, now: float) -> list[Stream]:
        """Regions that were called of late."""
        return [stream for stream in self.regions.values() if now - stream.last < self.long]

    def waits_for(self) -> str:
        """In a few words, for whoever watches; empty where only the program's end is awaited."""
        if self.first is None:
            return "its first region call"
        if self.most is not None or self.prefix is None:
            return "" if self.most is None else f"call {self.most:,}"
        if self.prefix.calls and not self.prefix.settle:
            return f"call {self.prefix.calls:,}"
        return self._lacks(self.clock(), self.first, settle=self.prefix.settle)

    def _lacks(self, now: float, first: float, *, settle: bool) -> str:
        """What an arm that may end sooner than the program still has to see."""
        spent = now - first
        if spent < self.long:
            return f"the program's end, or {self.long - spent:.0f} s more"
        few = min(self._live(now), key=lambda stream: stream.calls, default=self.all)
        if few.calls < CALLS and spent < PATIENCE:
            return f"{few.name}: {few.calls} of {CALLS} calls"
        for stream in self._moving(now) if settle else ():
            return f"{stream.name} to settle: it compiled at call {stream.compiled[-1]:,}"
        return "more calls"
