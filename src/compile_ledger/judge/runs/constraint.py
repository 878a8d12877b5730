"""What torch's message says of a dimension that was marked dynamic and cannot be."""

from __future__ import annotations

import re
from dataclasses import dataclass

from compile_ledger.facts.place import Place, Raised, lines_of
from compile_ledger.judge.classify_guard.clean import plain

_SOURCE = r"(?P<subject>\S+?)\.size\(\)\[(?P<axis>\d+)\]"
_FIXED = re.compile(
    rf"You marked {_SOURCE} as dynamic but your code specialized it to be a constant "
    r"\((?P<value>\d+)\)"
)
_GUARDED = re.compile(
    rf"Not all values of \S+ = {_SOURCE}(?P<range> in the specified range.*?)? "
    r"(?:satisfy the generated guard|are valid because) (?P<guard>[^\n]+?)\.?\s*(?:\n|$)"
)
_FRAME = re.compile(
    r'^\s*File "(?P<file>.+?)", line (?P<line>\d+), in (?P<function>\S+)', re.MULTILINE
)
_STACKS = ("User stack:", "from user code:")


Dim = tuple[str, int]
"""An input by its parameter's name, and an axis of it."""


@dataclass(frozen=True, slots=True)
class Violated:
    """A promise about one dimension, and what the code made of it."""

    subject: str
    axis: int
    expected: str
    actual: str
    words: str
    value: int | None = None
    """The size that the code fixes it at; None: a relation, not one size."""


def violated(raised: Raised | None) -> Violated | None:
    """The first dimension that a constraint violation names; None for other exceptions."""
    if raised is None:
        return None
    found = _FIXED.search(raised.message)
    if found:
        subject, axis = plain(found["subject"]), int(found["axis"])
        words = f"{subject} is marked dynamic on axis {axis}, but the code fixes it at "
        value = int(found["value"])
        return Violated(subject, axis, "any size", str(value), f"{words}{value}", value)
    found = _GUARDED.search(raised.message)
    if found is None:
        return None
    subject, axis, guard = plain(found["subject"]), int(found["axis"]), plain(found["guard"])
    words = f"{subject} is marked dynamic on axis {axis}, but the code needs {guard}"
    return Violated(subject, axis, f"any size{found['range'] or ''}", guard, words)


def told_place(raised: Raised | None) -> Place | None:
    """The user's innermost line in the stack that torch writes into its messages."""
    if raised is None:
        return None
    starts = [at for word in _STACKS if (at := raised.message.find(word)) >= 0]
    frames = _FRAME.finditer(raised.message, min(starts)) if starts else ()
    return lines_of(Place(m["file"], int(m["line"]), m["function"]) for m in frames).user


def as_large(subject: str, axis: int, size: int, sizes: dict[str, tuple[int, ...]]) -> list[Dim]:
    """Other dimensions of a call's inputs that have one size, as the marked one has."""
    every = ((name, at, n) for name, shape in sizes.items() for at, n in enumerate(shape))
    return [(name, at) for name, at, n in every if n == size and (name, at) != (subject, axis)]
