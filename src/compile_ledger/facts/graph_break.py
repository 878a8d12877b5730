"""A graph break: a place where Dynamo returned to Python."""

from __future__ import annotations

from dataclasses import dataclass

from .place import Place


@dataclass(frozen=True, slots=True)
class GraphBreak:
    """One break, seen while a frame was traced."""

    reason: str
    """The runtime's own words, the first line."""
    stack: tuple[Place, ...] = ()
    """The user's stack at the break, outermost first."""
    hint_id: str = ""
    """torch's own number for this kind of break (``GB0001``), where it gives one."""
    explanation: str = ""
    """The runtime's longer text, where it gives one."""

    @property
    def place(self) -> Place | None:
        """The innermost line of the user's stack."""
        return self.stack[-1] if self.stack else None
