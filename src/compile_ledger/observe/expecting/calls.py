"""Region calls while ``expect`` is open: which were served, and by how many frames."""

from __future__ import annotations

import functools
import gc
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from compile_ledger.observe.capabilities import need
from compile_ledger.observe.hooks.own_code import ours
from compile_ledger.observe.recording.session import Session, counted
from compile_ledger.observe.stack import wrapper_frame

from .lookups import Lookups


@dataclass(slots=True)
class Region:
    """One region's calls inside the block."""

    context: Any = None
    """Held, so that no other region gets its ``id`` while the block is open."""
    target: Any = None
    calls: int = 0
    unserved: list[int] = field(default_factory=list)
    """Steady calls in which no entry was asked and nothing was compiled."""
    split: list[tuple[int, int]] = field(default_factory=list)
    """Steady calls that ran more than one frame, and how many."""


class RegionCalls:
    """One more enter hook in each region's own list, taken out at the end.

    A call that overlaps another is counted but not judged: the counters are common.
    """

    def __init__(self, session: Session, lookups: Lookups, after: int) -> None:
        """Nothing is hooked yet."""
        self._session = session
        self._lookups = lookups
        self._after = after
        self.judging = True
        """False where lookups are not counted."""
        self.regions: dict[int, Region] = {}
        self.warm_misses = 0
        self._local = threading.local()
        self._lock = threading.Lock()
        self._open = 0
        self._overlaps = 0

    def number_now(self) -> int | None:
        """The number of the innermost call of this thread; None outside any."""
        stack = getattr(self._local, "calls", ())
        return stack[-1] if stack else None

    def install(self) -> None:
        """Hook the regions that exist and those to come. Raises ``MissingError``."""
        from torch._dynamo import eval_frame

        need(eval_frame, "OptimizeContext")
        kind = eval_frame.OptimizeContext
        original = kind.__init__
        hook, session = self.hook_context, self._session

        @functools.wraps(original)
        def init(self: Any, *args: Any, **kwargs: Any) -> None:
            original(self, *args, **kwargs)
            session.contained(hook, self)

        kind.__init__ = ours(init)
        self._session.restore.append(lambda: setattr(kind, "__init__", original))
        for found in gc.get_objects():
            if type(found) is kind:
                self.hook_context(found)

    def hook_context(self, context: Any) -> None:
        """Put our hook into one region's list."""
        hooks = context.enter_exit_hooks
        region = self.regions.setdefault(id(context), Region(context))
        enter = self._enter_hook(region)
        hooks.append(enter)
        self._session.restore.append(lambda: hooks.remove(enter) if enter in hooks else None)

    def _enter_hook(self, region: Region) -> Callable[[], Callable[[], None]]:
        def enter() -> Callable[[], None]:
            if region.target is None:
                frame = wrapper_frame()
                region.target = None if frame is None else frame.f_locals.get("fn")
            return self._begin(region)

        return enter

    def _begin(self, region: Region) -> Callable[[], None]:
        with self._lock:
            number = region.calls
            region.calls += 1
            self._open += 1
            first = self._open == 1
            self._overlaps += not first
            overlaps = self._overlaps
        stack = self._local.__dict__.setdefault("calls", [])
        stack.append(number)
        before = self._reading()

        def leave() -> None:
            with self._lock:
                self._open -= 1
                alone = first and overlaps == self._overlaps
            stack.pop()
            hits, missed, asked, reached = (
                now - then for now, then in zip(self._reading(), before, strict=True)
            )
            if number < self._after:
                self.warm_misses += max(0, missed - asked)
            elif alone and self.judging:
                self._judge(region, number, hits + reached, missed)

        return leave

    def _reading(self) -> tuple[int, int, int, int]:
        """Hits, lookups without one, misses that reached Dynamo, entries made."""
        session = self._session
        return (
            self._lookups.hits,
            self._lookups.misses,
            counted(session.asked),
            counted(session.kept),
        )

    @staticmethod
    def _judge(region: Region, number: int, frames: int, missed: int) -> None:
        if not frames and not missed:
            region.unserved.append(number)
        elif frames > 1:
            region.split.append((number, frames))
