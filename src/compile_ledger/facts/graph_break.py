"""A graph break: a place where Dynamo returned to Python."""

from __future__ import annotations

from dataclasses import dataclass

from .place import Place, lines_of


@dataclass(frozen=True, slots=True)
class GraphBreak:
    """One break, seen while a frame was traced."""

    reason: str
    """The runtime's own words, the first line."""
    stack: tuple[Place, ...] = ()
    """The user's and libraries' lines that led to the break, outermost first."""
    hint_id: str = ""
    """torch's own number for this kind of break (``GB0001``), where it gives one."""
    explanation: str = ""
    """The runtime's longer text, where it gives one."""

    @property
    def place(self) -> Place | None:
        """Where it broke: the innermost line of the stack, the user's or a library's."""
        return self.stack[-1] if self.stack else None

    @property
    def user(self) -> Place | None:
        """The user's line that led there; the line itself where that is the user's."""
        return lines_of(self.stack).user

    @property
    def library(self) -> Place | None:
        """Where it broke, where that is a library's line."""
        return lines_of(self.stack).library
