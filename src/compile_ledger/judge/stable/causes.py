"""Why compiles happened: what the nearest entry refuses, and the values it saw."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from compile_ledger.facts.compile import Compile
from compile_ledger.judge.classify_guard import KINDS, GuardFailure, classify_guard
from compile_ledger.judge.classify_guard.refused import failures_with, nearest_failures
from compile_ledger.judge.words import count

ABSORBED = ("size", "stride", "constant-int", "constant-float")
"""Kinds whose next value one more general entry can take."""

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
    events: tuple[Compile, ...] = ()
    """The compiles, refused ones included, that it explains, as they began."""

    @property
    def compiles(self) -> int:
        """How many those are."""
        return len(self.events)

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
        if all(failure.actual for failure in self.failures):
            return len(self.values)
        return len({(failure.expected, failure.detail) for failure in self.failures}) + 1


def failures_of(event: Compile) -> tuple[GuardFailure, ...]:
    """In what the call of a compile differs from the entry nearest to it.

    Where only the runtime's texts were kept: one of them for each entry that refused.
    """
    told = tuple(classify_guard(reason) for reason in event.reasons)
    return nearest_failures(event.answers, told) or told


def every_failure(event: Compile) -> tuple[GuardFailure, ...]:
    """In what the call of a compile differs from each entry, as far as entries were asked."""
    asked = tuple(failure for one in event.answers for failure in failures_with(one))
    return asked or tuple(classify_guard(reason) for reason in event.reasons)


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


def blamed(events: Iterable[Compile]) -> tuple[tuple[Compile, Key | None], ...]:
    """Each compile with its cause; None where the runtime gave none."""
    return tuple((event, primary(event)) for event in events)


def primary(event: Compile) -> Key | None:
    """The first guard that the nearest entry refuses, in the runtime's order.

    A call of another kind (a flag, keys, a dtype) needs an entry of its own whatever its
    sizes and numbers: that comes first. From texts alone: what most entries name.
    """
    named = Counter(key_of(failure) for failure in failures_of(event))
    if not event.answers:
        return next((key for key, _ in named.most_common(1)), None)
    return next((key for key in named if key.kind not in ABSORBED), next(iter(named), None))


def causes(events: Iterable[Compile]) -> tuple[Cause, ...]:
    """Every cause of some compiles, on each code object by itself, in order of appearance."""
    grouped: defaultdict[tuple[int, Key], list[Compile]] = defaultdict(list)
    for event, key in blamed(events):
        if key is not None:
            grouped[event.code_object, key].append(event)
    return tuple(cause(key, having) for (_, key), having in grouped.items())


def leading(events: Iterable[Compile]) -> Cause | None:
    """The cause of most compiles; of equals a size, one that can go on, then the first."""
    return max(causes(events), key=_weight, default=None)


def _weight(one: Cause) -> tuple[int, bool, bool]:
    return one.compiles, one.key.kind == "size", not one.key.bounded


def cause(key: Key, events: Sequence[Compile]) -> Cause:
    """The failures of one cause in the compiles that it explains."""
    found = tuple(f for event in events for f in failures_of(event) if key_of(f) == key)
    return Cause(key, found, tuple(events))


def values_seen(found: Cause, unseen: int) -> str:
    """``12 distinct lengths`` or ``at least 9 distinct lengths``; unseen: silent calls."""
    least = "at least " if unseen else ""
    return f"{least}{count(found.distinct, f'distinct {noun_of(found.key)}')}"


def noun_of(key: Key) -> str:
    """What differs from call to call: a length, a function, a value."""
    return _NOUNS.get(key.kind, "value")
