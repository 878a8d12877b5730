"""What ran outside: calls that go round a region, and operators outside its graphs."""

from __future__ import annotations

from dataclasses import dataclass

from .place import Place


@dataclass(frozen=True, slots=True)
class Caller:
    """One line that called a region's own code without the region."""

    place: Place | None
    """The user's line that called, or that led a library to call."""
    library: Place | None = None
    """The library's line that called, where it is not the user's."""
    calls: int = 0


@dataclass(frozen=True, slots=True)
class OwnCalls:
    """Calls of what regions compile, by way of a region and round it.

    Counted in the eager arm. Nested calls of the same code count once.
    """

    regions: tuple[int, ...]
    """The regions that were made of it."""
    inside: int = 0
    """Calls inside any region's call."""
    outside: int = 0
    """Calls outside every region, since it was first given to ``torch.compile``."""
    inside_ns: int = 0
    """Process CPU nanoseconds of the calls inside."""
    outside_ns: int = 0
    trained: int = 0
    """Calls outside with gradients enabled."""
    others: int = 0
    """Calls outside of the same function on another object of that class."""
    callers: tuple[Caller, ...] = ()
    """Who called it outside; who called the other objects where only they were called."""
    why: str = ""
    """Set when the calls cannot be counted."""


@dataclass(frozen=True, slots=True)
class EagerPlace:
    """One function of the user's or of a library whose operators ran outside graphs."""

    place: Place
    """The line that ran most of them; the function's first where its operators show no line."""
    program: Place | None = None
    """The line of the user's own program that led there, where that is another one."""
    operators: int = 0
    ns: int = 0
    disabled: bool = False
    """Whether it ran under ``torch.compiler.disable``."""


@dataclass(frozen=True, slots=True)
class Operators:
    """The operators of one call of a region, inside its graphs and outside them.

    Operators that the program's own lines call, with all that they call in turn. Left out:
    backward passes, reads of a single value (``item``), the printing of tensors, and what makes
    a symbolic float an input of a graph.
    """

    region: int
    call: int
    """The call's index."""
    graphs: int = 0
    """Graphs seen to run."""
    inside: int = 0
    outside: int = 0
    inside_ns: int = 0
    """Wall nanoseconds inside operators, as the graphs run without code generation."""
    outside_ns: int = 0
    places: tuple[EagerPlace, ...] = ()
    """Where those outside ran, the longest first."""
    why: str = ""
    """Set when they could not be counted."""
