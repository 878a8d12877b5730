"""Reads events of a timeline, in order, into spans of calls that went alike."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from compile_ledger.facts.timeline import Span

from .disposition import worst

if TYPE_CHECKING:
    from compile_ledger.observe.hooks.regions import RegionState

    from .session import EntryState

ENTER, LEAVE, MISS = "enter", "leave", "miss"
_DEEPEST = 64
"""Calls open at a time on one thread; an interrupt can leave one open for good."""


class _Open:
    """A call in progress."""

    __slots__ = ("asked", "kept", "left", "met", "number", "region", "runs", "shared")

    def __init__(self, region: RegionState, number: int, left: int | None) -> None:
        self.region = region
        self.number = number
        self.left = left
        """What was left of the lookup counter, which counts down; None: there is none."""
        self.runs: dict[EntryState, int] = {}
        self.met: list[str] = []
        self.kept = self.asked = 0
        self.shared = False

    def add(self, inner: _Open) -> None:
        """A call inside this one ended."""
        for entry, times in inner.runs.items():
            self.runs[entry] = self.runs.get(entry, 0) + times
        self.met += inner.met
        self.kept += inner.kept
        self.asked += inner.asked


def _silent(call: _Open, left: int | None) -> int | None:
    """Lookups of a call that neither hit an entry nor reached Dynamo; None: not known."""
    if call.shared or call.left is None or left is None:
        return None
    hits = sum(call.runs.values()) - call.kept
    return max(0, call.left - left - hits - call.asked)


class Reader:
    """Takes events; gives spans."""

    def __init__(self) -> None:
        """Nothing is open."""
        self._open: dict[int, list[_Open]] = {}
        self._threads: dict[int, int] = {}
        self._states: dict[tuple[int, int], str] = {}
        """Code object and bucket to ``limit`` or ``off``, as the events so far tell."""
        self._spans: list[Span] = []

    def take(self, event: tuple[Any, ...]) -> None:
        """Read one event; those of calls whose beginning was overwritten are dropped."""
        kind, thread, *rest = event
        stack = self._open.setdefault(thread, [])
        if kind == ENTER:
            self._enter(stack, *rest)
        elif kind == LEAVE:
            self._leave(thread, stack, *rest)
        elif kind == MISS:
            self._miss(stack, *rest)
        elif stack:
            stack[-1].runs[kind] = stack[-1].runs.get(kind, 0) + 1

    def _enter(
        self, stack: list[_Open], region: RegionState, number: int, left: int | None
    ) -> None:
        stack.append(_Open(region, number, left))
        del stack[:-_DEEPEST]
        busy = [calls[-1] for calls in self._open.values() if calls]
        for call in busy if len(busy) > 1 else ():
            call.shared = True

    def _miss(self, stack: list[_Open], code: int, outcome: str, *rest: bool) -> None:
        line = code, stack[-1].region.bucket if stack else -1
        if outcome in ("refused", "switched_off"):
            self._states[line] = "limit" if outcome == "refused" else "off"
        elif rest[0]:
            self._states.pop(line, None)
        if stack:
            stack[-1].met.append(outcome)
            stack[-1].kept += rest[0]
            stack[-1].asked += rest[1]

    def _leave(
        self, thread: int, stack: list[_Open], region: RegionState, number: int, *rest: Any
    ) -> None:
        while stack and (stack[-1].region, stack[-1].number) != (region, number):
            stack.pop()
        if not stack:
            return
        call = stack.pop()
        self._end(call, self._threads.setdefault(thread, len(self._threads)), *rest)
        if stack:
            stack[-1].add(call)

    def _end(self, call: _Open, thread: int, left: int | None, raised: bool) -> None:  # noqa: FBT001
        silent = _silent(call, left)
        met = {*call.met, *(("raised",) if raised else ()), *(("fell_back",) if silent else ())}
        root = call.region.fact.root
        line = root or 0, call.region.bucket
        state = self._states.get(line, "on") if root is not None else ""
        if silent == 0 and state == "limit":
            state = "on"  # No lookup failed: it was not Dynamo that ran this call eagerly.
        span = Span(
            region=call.region.fact.id,
            first=call.number - call.region.base,
            calls=1,
            disposition=worst(met, ran=bool(call.runs), root=state),
            runs={f"{e.code_object}:{e.compile_id}": n for e, n in call.runs.items()},
            graphs=sum(n for entry, n in call.runs.items() if entry.has_graph),
            silent=silent,
            thread=thread,
        )
        self._add(span)

    def _add(self, span: Span) -> None:
        last = self._spans[-1] if self._spans else None
        if last is not None and span.first == last.first + last.calls:
            longer = dataclasses.replace(last, calls=1, first=span.first)
            if longer == span:
                self._spans[-1] = dataclasses.replace(last, calls=last.calls + 1)
                return
        self._spans.append(span)

    def ended(self) -> tuple[Span, ...]:
        """The calls that ended since this was last asked."""
        spans, self._spans = tuple(self._spans), []
        return spans
