"""What one guard failure says, taken apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from compile_ledger.facts.place import Place

Scope = Literal["argument", "attribute", "global", "closure", "default", "process", ""]
"""Where the program keeps what the guard looks at; empty: the text does not say."""


@dataclass(frozen=True, slots=True)
class GuardFailure:
    """One reason why a cache entry refused a call."""

    kind: str
    """A name of the table in kinds.py; ``other`` when the text is unknown."""
    subject: str = ""
    """What the guard is about: ``x``, ``self.scale``, ``grad_mode``."""
    axis: int | None = None
    """The dimension, for sizes and strides."""
    expected: str = ""
    """What the entry assumes, as the text words it; empty: the text does not say."""
    actual: str = ""
    """What the call brought; empty: the text does not say."""
    detail: str = ""
    """The attribute, key, state or relation that is meant, where there is one."""
    scope: Scope = ""
    entry: str = ""
    """The compile id of the entry that refused, ``0/1``; empty: not given."""
    user_line: Place | None = None
    """The line of source that the runtime blames."""
    hint: str = ""
    """The runtime's own advice."""
    text: str = ""
    """The whole text, as it was given."""
