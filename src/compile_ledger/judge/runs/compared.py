"""Exceptions of eager and of a compiled arm, compared call by call."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from compile_ledger.facts.arm import Arm
from compile_ledger.facts.place import Raised
from compile_ledger.judge.stable.stances import FAIL, refused_calls
from compile_ledger.judge.words import short_type


@dataclass(frozen=True, slots=True)
class Difference:
    """Eager and a compiled arm disagree on an exception."""

    kind: Literal["raises", "lost", "other type"]
    arm: str
    eager: Raised | None
    compiled: Raised | None
    region: int | None = None
    call: int | None = None
    """The call in which it happened; None: outside any call, or not known."""

    @property
    def key(self) -> str:
        """What makes it the same failure in another arm."""
        said = self.compiled or self.eager
        return short_type(said.type) if said else ""


def differences(eager: Arm, arm: Arm) -> Iterator[Difference]:
    """Every difference of a compiled arm, call by call and then for the whole."""
    known = {(c.region, c.index): c.raised for c in eager.calls}
    refused = refused_calls(arm)
    uncaught = arm.raised if arm.status == "raised" else None
    for call in arm.calls:
        at = (call.region, call.index)
        if at not in known or (at in refused and call.raised):
            continue
        before = known[at]
        if call.raised and not before:
            yield Difference("raises", arm.name, None, call.raised, *at)
            uncaught = None if _same(uncaught, call.raised) else uncaught
        elif before and not call.raised:
            yield Difference("lost", arm.name, before, None, *at)
        elif before and call.raised and not _same(before, call.raised):
            yield Difference("other type", arm.name, before, call.raised, *at)
            uncaught = None if _same(uncaught, call.raised) else uncaught
    if uncaught and not (refused and FAIL in uncaught.message):
        yield Difference("raises", arm.name, None, uncaught)


def _same(one: Raised | None, other: Raised | None) -> bool:
    return bool(one and other and short_type(one.type) == short_type(other.type))
