"""What torch's own instruments say of how a region is captured."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Opinion:
    """The answers of ``torch._dynamo.explain`` and ``fullgraph=True`` for one call of a region."""

    region: int
    explain_graphs: int | None = None
    explain_breaks: int | None = None
    """As ``explain`` counts: its graphs less one."""
    explain_why: str = ""
    """Why ``explain`` gave no answer."""
    fullgraph: bool | None = None
    """Whether the call compiles and runs with ``fullgraph=True, backend="eager"``."""
    fullgraph_why: str = ""
    """What it raised otherwise, the first line."""
