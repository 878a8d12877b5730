"""A region: one ``torch.compile`` call, and the code objects it enters."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from .place import Place

RegionKind = Literal["function", "module", "module.compile", "method", "callable"]


@dataclass(frozen=True, slots=True)
class Region:
    """One ``torch.compile`` call as the recorder saw it."""

    id: int
    """The order in which the process made its regions, from 0."""
    target: str
    """The qualified name of what was compiled."""
    kind: RegionKind = "function"
    site: Place | None = None
    """The user's line that called ``torch.compile``, or that led a library to do it."""
    target_place: Place | None = None
    """Where the target is defined."""
    compile_kwargs: dict[str, str] = field(default_factory=dict)
    """The keyword arguments given, each as ``repr``; absent means the default."""
    recompile_limit: int | None = None
    """The setting in the thread that made the region, when it was made: it is per thread."""
    root: int | None = None
    """The code object that the region enters first, once it is known."""
    library: Place | None = None
    """The library's line that called ``torch.compile``, where it is not the user's."""


@dataclass(frozen=True, slots=True)
class CodeObject:
    """A code object that Dynamo looked at; its entries are its cache line."""

    id: int
    name: str
    file: str
    line: int
    library: bool = False
    """True when the file belongs to torch or the standard library."""
    resume_of: str = ""
    """For a resume function: the name of the function it continues."""
    uncounted: int = 0
    """Entries whose runs the recorder cannot count: older than it, or of a generator."""

    @property
    def place(self) -> Place:
        """Where the code object is defined."""
        return Place(self.file, self.line, self.name)
