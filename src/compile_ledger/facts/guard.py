"""A guard: one thing that a cache entry assumes of a call."""

from __future__ import annotations

from dataclasses import dataclass

from .place import Place


@dataclass(frozen=True, slots=True)
class TensorAssumption:
    """What a guard assumes of one tensor; None in a size or stride: any value."""

    type: str
    dispatch_keys: tuple[str, ...]
    dtype: str
    device_index: int | None
    requires_grad: bool
    size: tuple[int | None, ...]
    stride: tuple[int | None, ...]


@dataclass(frozen=True, slots=True)
class Guard:
    """One guard of one entry, as the runtime holds it."""

    source: str
    """Where the value comes from, as the runtime writes it: ``L['x']``; empty: the process."""
    kind: str
    """The runtime's class of guard, ``TENSOR_MATCH``."""
    predicate: str
    """``==``, ``type is``, ``id is``, ``len ==``, ``in``, ``tensor``, ...; ``expr``: see text."""
    expected: str
    """The right side of the predicate, in words."""
    text: str
    """The guard alone, without the source line that the runtime appends."""
    value_type: str = ""
    """The type of the value when the entry was made; empty: this torch does not say."""
    user_line: str = ""
    """The line of source that made the guard."""
    place: Place | None = None
    hint: str = ""
    fail_count: int | None = None
    """Times this source made the entry refuse a call; None: not counted."""
    tensor: TensorAssumption | None = None
    """Set where the predicate is ``tensor``."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """One guard that a call fails, with both values."""

    source: str
    kind: str
    aspect: str
    """What differs: ``size[0]``, ``dtype``, ``value``, ``type``, ``length``, ..."""
    expected: str
    actual: str
    text: str = ""
    user_line: str = ""
    place: Place | None = None
    hint: str = ""
    """The runtime's own word on the guard, as a closure's variable."""
