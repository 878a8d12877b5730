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
    operator: str = ""
    """The higher-order operator that it broke (``torch.utils.checkpoint.checkpoint``)."""
    block: str = ""
    """The block behind which Dynamo cannot go on: ``loop``, ``with``, ``try``; empty: none."""
    left: str = ""
    """What Python runs because of that: the ``rest`` of the frame, or the whole ``frame``."""
    rest_from: int = 0
    """The line from which the rest of the frame is left to Python; 0: it is not."""

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
