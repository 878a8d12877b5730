"""The order of calls, in spans of calls that went alike."""

from __future__ import annotations

from dataclasses import dataclass, field

from .calls import Disposition


@dataclass(frozen=True, slots=True)
class Span:
    """Consecutive calls of one region, on one thread, that did the same."""

    region: int
    first: int
    """The index of the first call."""
    calls: int
    disposition: Disposition
    runs: dict[str, int] = field(default_factory=dict)
    """``code object:compile id`` to its runs in each of the calls."""
    graphs: int = 0
    silent: int | None = None
    """As in :class:`~compile_ledger.facts.calls.Call`."""
    thread: int = 0


@dataclass(frozen=True, slots=True)
class Timeline:
    """Calls that ended since the last such fact, in the order in which they ended."""

    at_ns: int
    spans: tuple[Span, ...] = ()
