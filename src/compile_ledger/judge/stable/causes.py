"""Why compiles happened: the guard that most entries name, and the values it saw."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from compile_ledger.facts.compile import Compile
from compile_ledger.judge.classify_guard import KINDS, GuardFailure, classify_guard
from compile_ledger.judge.words import count

NAMED_VALUES = ("size", "stride", "rank", "dtype", "device", "dispatch-keys", "tensor-type")
"""Kinds whose texts name the value that the call brought, too."""

_NOUNS = {"size": "length", "function-code": "function", "identity": "object", "type": "type"}
_INTERNAL = (
    (re.compile(r"___from_numpy\((.+)\)"), r"\1"),
    (re.compile(r"\._(?:modules|parameters|buffers)\['([A-Za-z_]\w*)'\]"), r".\1"),
    (re.compile(r"\._modules\['(\d+)'\]"), r"[\1]"),
    (re.compile(r"^G\['(\w+)'\]"), r"the global \1"),
)
"""How guards name parts of the program, and how the program does."""
_VARIABLE = re.compile(r'guard on "(\w+)"([^,\s]*)')
"""How the runtime names the variable behind a closure's cell."""


@dataclass(frozen=True, slots=True)
class Key:
    """What makes two failures the same cause."""

    kind: str
    subject: str
    axis: int | None

    @property
    def bounded(self) -> bool:
        """True when the values are few by nature."""
        return KINDS[self.kind].bounded

    @property
    def text(self) -> str:
        """``a tensor size (idx, axis 1)``."""
        return self.worded(self.subject)

    def worded(self, subject: str, values: str = "") -> str:
        """``a tensor size (idx, axis 1: 60, 63)``: the subject under another name."""
        title = KINDS[self.kind].title
        axis = f", axis {self.axis}" if self.axis is not None else ""
        some = f": {values}" if values else ""
        return f"{title} ({subject}{axis}{some})" if subject else title


@dataclass(frozen=True, slots=True)
class Cause:
    """One cause, with every failure that named it."""

    key: Key
    failures: tuple[GuardFailure, ...]
    compiles: int
    """Compiles, refused ones included, in which some entry named it."""
    refused: bool
    """True when one of those was refused: its value is in no entry."""
    events: tuple[Compile, ...] = ()
    """Those compiles, in the order in which they began."""

    @property
    def first(self) -> GuardFailure:
        """The first failure: the assumption that stopped holding."""
        return self.failures[0]

    @property
    def values(self) -> tuple[str, ...]:
        """Distinct values in the order in which they were seen."""
        seen: dict[str, None] = {}
        for failure in self.failures:
            for value in (failure.expected, failure.actual):
                if value:
                    seen.setdefault(value)
        return tuple(seen)

    @property
    def distinct(self) -> int:
        """Distinct values that the failures prove; a lower bound."""
        if self.key.kind in NAMED_VALUES:
            return len(self.values)
        return len({(failure.expected, failure.detail) for failure in self.failures}) + 1


def failures_of(event: Compile) -> tuple[GuardFailure, ...]:
    """The classified reasons of one compile, one for each entry that refused."""
    return tuple(classify_guard(reason) for reason in event.reasons)


def key_of(failure: GuardFailure) -> Key:
    """The cause that a failure belongs to."""
    return Key(failure.kind, failure.subject, failure.axis)


def by_name(failure: GuardFailure) -> str:
    """The subject as the user knows it: a closure's cell by its variable, ``radius``.

    A global, a module's parts and an array by their names in the program.
    """
    told = _VARIABLE.search(failure.hint)
    if told:
        return f"{told.group(1)}{told.group(2)}"
    name = failure.subject
    for pattern, words in _INTERNAL:
        name = pattern.sub(words, name)
    return f"{name}, left by a graph break" if name.startswith("___stack") else name


def primary(event: Compile) -> Key | None:
    """What most refusing entries name; the first named where they tie."""
    named = Counter(key_of(failure) for failure in failures_of(event))
    return named.most_common(1)[0][0] if named else None


def leading(events: Iterable[Compile]) -> Cause | None:
    """The cause that most compiles have first, with all its failures."""
    every = list(events)
    keys = Counter(key for event in every if (key := primary(event)))
    if not keys:
        return None
    return cause(keys.most_common(1)[0][0], every)


def cause(key: Key, events: Iterable[Compile]) -> Cause:
    """Gather the failures of one cause over some compiles."""
    having = tuple(event for event in events if any(key_of(f) == key for f in failures_of(event)))
    found = tuple(f for event in having for f in failures_of(event) if key_of(f) == key)
    refused = any(event.hit_limit for event in having)
    return Cause(key, found, len(having), refused, having)


def values_seen(found: Cause, unseen: int) -> str:
    """``12 distinct lengths`` or ``at least 9 distinct lengths``; unseen: silent calls."""
    least = "at least " if unseen else ""
    return f"{least}{count(found.distinct, f'distinct {noun_of(found.key)}')}"


def noun_of(key: Key) -> str:
    """What differs from call to call: a length, a function, a value."""
    return _NOUNS.get(key.kind, "value")
