"""A place in somebody's source code."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Place:
    """A line of source: ``file`` as Python names it, ``line`` from 1 (0: unknown)."""

    file: str
    line: int = 0
    function: str = ""

    def __str__(self) -> str:
        """``file:line``, the form that editors and terminals link."""
        return f"{self.file}:{self.line}" if self.line else self.file


@dataclass(frozen=True, slots=True)
class Raised:
    """An exception that left a call or a frame."""

    type: str
    """The class name, with its module unless it is a builtin."""
    message: str
    """The first 2,000 characters of ``str(exception)``."""
    place: Place | None = None
    """The innermost line of the traceback that belongs to the user's code."""
    frames: tuple[Place, ...] = ()
    """The user's own lines of the traceback, outermost first."""
