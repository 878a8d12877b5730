"""The answer to "what would this call do?", asked without making the call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from .guard import Refusal

Next = Literal[
    "reuse", "compile", "recompile", "refused", "fall_back", "switched_off", "eager", "raise"
]
"""What the call would do. ``eager``: the stance or a switch says so for every call."""


@dataclass(frozen=True, slots=True)
class EntryAnswer:
    """Whether one entry would take the call, and every guard that says no."""

    compile_id: str
    accepts: bool
    refusals: tuple[Refusal, ...] = ()
    unknown: tuple[str, ...] = ()
    """Guards that could not be asked, taken as holding."""


@dataclass(frozen=True, slots=True)
class WhatIf:
    """What a call would do, and why no other entry would take it."""

    target: str
    code_object: str
    next: Next
    why: str
    """In a sentence: the limit, the state, the stance."""
    hit: str = ""
    """The entry that would serve the call; empty: none."""
    limit: str = ""
    """Where a limit refuses: its configuration name."""
    nearest: str = ""
    """Where no entry takes the call: the one with fewest differing assumptions."""
    answers: tuple[EntryAnswer, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def compiles(self) -> bool:
        """Whether the call would start a compile that is not refused."""
        return self.next in ("compile", "recompile")
