"""Asks entries, at a miss, about the call that no one of them took: every guard of each.

The runtime words the first guard that fails, and of most guards only what was expected.
The frame is at hand here, so both values of all of them are known. Bounded, so that it
costs a small part of the compile that follows; see :mod:`.reading` for what is not run.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import replace
from types import CodeType
from typing import Any

from compile_ledger.facts.guard import Refusal
from compile_ledger.facts.what_if import EntryAnswer
from compile_ledger.observe.cache_line.leaves import leaves
from compile_ledger.observe.cache_line.lookup import compile_id, is_valid

from .live import Asking, ask_contained, dict_refusals
from .reading import UnreadError, has_own_getattr, may_evaluate, read
from .text import without_echoes

MOST_ENTRIES = 8
"""Entries that one miss asks: the default limit."""
MOST_GUARDS = 3_000
"""Guards that one miss asks before it leaves out further entries; about 20 ms."""
_MOST_KEPT = 16
_LONGEST = 200


class Reading(Asking):
    """One entry asked about a frame, by reading only."""

    def __init__(self, entry: Any, code: CodeType, values: Mapping[str, Any]) -> None:
        """Nothing is read yet."""
        super().__init__(entry, code, values)
        self._read: dict[str, Any] = {}

    def value(self, source: str) -> tuple[bool, Any]:
        """As for a question at a prompt. Raises ``UnreadError`` for what is not stored."""
        try:
            return True, read(source, self.scope, self._read)
        except (LookupError, AttributeError) as error:
            return False, error

    def evaluate(self, text: str) -> Any:
        """The value of a comparison of plain values. Raises ``UnreadError`` for another."""
        if not may_evaluate(text, self.scope, self._read):
            raise UnreadError(text)
        return super().evaluate(text)


def ask_at_miss(
    entries: Iterable[Any], code: CodeType, values: Mapping[str, Any]
) -> tuple[EntryAnswer, ...]:
    """What each entry that was asked refuses, in the order in which the lookup asked."""
    left = MOST_GUARDS
    found = []
    for entry in itertools.islice(entries, MOST_ENTRIES):
        if left <= 0:
            break
        if is_valid(entry):
            answer, asked = _ask(Reading(entry, code, values))
            found.append(answer)
            left -= asked
    return tuple(found)


def _ask(asking: Reading) -> tuple[EntryAnswer, int]:
    """An entry's answer, and how many guards were asked for it."""
    found: list[Refusal] = []
    unknown: list[str] = []
    asked = 0
    for leaf in leaves(asking.entry):
        asked += 1
        if leaf.kind in _ASK_ATTRIBUTES and _answers_itself(asking, leaf.source):
            unknown.append(f"{leaf.kind} {leaf.source}")
        else:
            ask_contained(asking, leaf, found, unknown)
    kept = without_echoes(found + dict_refusals(asking))
    cut = tuple(_cut(refusal) for refusal in kept[:_MOST_KEPT])
    return EntryAnswer(compile_id(asking.entry), not kept, cut, tuple(unknown[:1])), asked


_ASK_ATTRIBUTES = ("NO_HASATTR", "HASATTR")


def _answers_itself(asking: Reading, source: str) -> bool:
    """Whether asking the value for an attribute would run code of its class."""
    try:
        present, value = asking.value(source)
    except UnreadError:
        return True
    return present and has_own_getattr(value)


def _cut(refusal: Refusal) -> Refusal:
    """With texts of a length fit for a recording."""
    return replace(
        refusal,
        source=refusal.source[:_LONGEST],
        expected=refusal.expected[:_LONGEST],
        actual=refusal.actual[:_LONGEST],
        text=refusal.text[:_LONGEST],
        user_line=refusal.user_line[:_LONGEST],
    )
