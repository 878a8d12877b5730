"""What ``expect`` sees while it is open: misses with their causes, lookups, region calls.

Uses the recorder's hooks where they are the same; its own counters need nothing from
before the block, so entries that were compiled earlier are counted as well.
"""

from __future__ import annotations

import functools
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from compile_ledger.facts.arm import Lost
from compile_ledger.facts.compile import Compile
from compile_ledger.observe.capabilities import Capabilities
from compile_ledger.observe.hooks import evidence, misses
from compile_ledger.observe.hooks.own_code import is_ours_code
from compile_ledger.observe.recording.session import Session, counted
from compile_ledger.observe.stack import callers

from .calls import RegionCalls
from .lookups import Lookups


@dataclass(slots=True)
class Seen:
    """One miss, with what was going on around it."""

    fact: Compile
    steady: bool
    call: int | None
    refusals: list[Any] = field(default_factory=list)
    """For each entry its compile id and every guard that said no, with both values."""


class Watch:
    """Everything that is seen while the block is open; also the session's sink."""

    def __init__(self, after: int) -> None:
        """Take the first ``after`` calls of each region as warm-up."""
        self.after = after
        self.session = Session(self)  # type: ignore[arg-type]  # a sink that keeps in memory
        self.capabilities = Capabilities()
        self.lookups = Lookups()
        self.seen: list[Seen] = []
        self.regions = RegionCalls(self.session, self.lookups, after)
        self.lost: Counter[tuple[str, str]] = Counter()

    def install(self) -> None:
        """Install each instrument in its own attempt."""
        attempt = self.capabilities.attempt
        bind = functools.partial
        attempt("misses", "misses that reached Dynamo", bind(misses.install, self.session))
        evidence.install(self.session, self.capabilities)
        attempt("lookups", "calls that ran eagerly", bind(self.lookups.install, self.session))
        attempt("regions", "calls of regions", self.regions.install)
        self.regions.judging = self.capabilities.has("lookups")

    def remove(self) -> None:
        """Take every instrument out again, the last first."""
        while self.session.restore:
            self.session.restore.pop()()

    @property
    def silent(self) -> int | None:
        """Steady lookups that no entry took and that never reached Dynamo."""
        if not (self.capabilities.has("lookups") and self.capabilities.has("misses")):
            return None
        return max(0, self.lookups.misses - counted(self.session.asked) - self.regions.warm_misses)

    # The sink of the session: facts come as they are made, on the thread that made them.

    def write(self, fact: Any) -> None:
        """Keep a miss; other facts are not needed here."""
        if isinstance(fact, Compile):
            steady, number = self._now()
            seen = Seen(fact, steady, number)
            self.seen.append(seen)
            if steady:
                self.session.contained(_explain, seen)

    def lose(self, where: str, error: BaseException) -> None:
        """Count evidence that could not be taken."""
        self.lost[where, f"{type(error).__name__}: {error}"[:300]] += 1

    def losses(self) -> tuple[Lost, ...]:
        """What was lost so far."""
        return tuple(Lost(where, why, n) for (where, why), n in self.lost.items())

    def _now(self) -> tuple[bool, int | None]:
        number = self.regions.number_now()
        return number is None or number >= self.after, number


def _explain(seen: Seen) -> None:
    """Ask every entry of the frame that missed for all guards that refused it."""
    frame = next((f.f_locals["frame"] for f in callers(2) if _handles_a_miss(f)), None)
    if frame is None:
        return
    from compile_ledger.observe.cache_line.lookup import is_valid, raw_entries
    from compile_ledger.observe.what_if import answer_guards

    code, values = frame.f_code, dict(frame.f_locals)
    for entry in raw_entries(code):
        if is_valid(entry):
            seen.refusals.append(answer_guards(entry, code, values))


def _handles_a_miss(frame: Any) -> bool:
    return is_ours_code(frame.f_code) and "frame" in frame.f_locals
