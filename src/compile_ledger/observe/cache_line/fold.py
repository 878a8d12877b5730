"""Folds a cache line for a document: what sets entries apart is kept, the rest counted.

Of what every entry has, only guards on what the caller passes are kept, once, because a
question asked of the document can fail no other.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace

from compile_ledger.facts.cache_line import CodeLine, Entry
from compile_ledger.facts.guard import Guard

MOST_OWN = 32
"""Guards kept of one entry that not every entry has."""
MOST_COMMON = 64
"""Guards kept that every entry has."""
MOST_GUARDS = 4_000
"""Guards kept of all lines of a process together: about two megabytes."""
_LONGEST = 1_000

_LOCAL = re.compile(r"L\['(\w+)'\]")
_NUMBERED = re.compile(r"(__builtins_dict__)_\d+")
"""The runtime's own name for one and the same thing, numbered anew in each entry."""
_Key = tuple[str, str, str, str]


@dataclass
class Room:
    """How many guards may still be kept."""

    left: int = MOST_GUARDS

    def take(self, found: Iterable[Guard], most: int) -> tuple[Guard, ...]:
        """The first guards, as many as there is room for, their texts cut."""
        kept = list(found)[: max(0, min(most, self.left))]
        self.left -= len(kept)
        return tuple(map(_cut, kept))


def fold(line: CodeLine, room: Room) -> CodeLine:
    """The line with each shared guard kept once or counted, and the others capped."""
    full = [entry for entry in line.entries if entry.guards]
    holders = _holders(full)
    shared = {key for key, held in holders.items() if len(held) == len(full)}
    supplied = {one.name for one in line.parameters if one.given} or {"self"}
    common = [guard for guard in full[0].guards if _key(guard) in shared] if full else []
    asked = [guard for guard in common if line.role == "root" and _rank(guard, supplied) < _OTHER]
    kept = room.take(sorted(asked, key=lambda guard: _rank(guard, supplied)), MOST_COMMON)
    return replace(
        line,
        entries=tuple(_entry(one, holders, supplied, room) for one in line.entries),
        common=tuple(replace(guard, fail_count=None) for guard in kept),
        folded=len(common) - len(kept),
    )


def _holders(entries: list[Entry]) -> dict[_Key, frozenset[int]]:
    """Which entries have each guard; nothing is shared by an entry that is alone."""
    found: defaultdict[_Key, set[int]] = defaultdict(set)
    for number, entry in enumerate(entries if len(entries) > 1 else ()):
        for guard in entry.guards:
            found[_key(guard)].add(number)
    return {key: frozenset(held) for key, held in found.items()}


def _entry(
    entry: Entry, holders: dict[_Key, frozenset[int]], supplied: set[str], room: Room
) -> Entry:
    every = len(frozenset().union(*holders.values())) if holders else 0
    own = [g for g in entry.guards if not holders or len(holders[_key(g)]) < every]
    ranked = sorted(own, key=lambda guard: _rank(guard, supplied))
    if holders:
        ranked = _telling_first(ranked, holders)
    worth = ranked if holders else [g for g in ranked if _rank(g, supplied) < _OTHER]
    kept = room.take(worth, MOST_OWN)
    return replace(entry, guards=kept, folded=entry.folded + len(own) - len(kept))


def _telling_first(ranked: list[Guard], holders: dict[_Key, frozenset[int]]) -> list[Guard]:
    """One guard of each set of entries that have it alike, then the rest.

    A hundred flags of modules that change together tell no more than one of them, and must
    not push out the one guard that tells two entries apart.
    """
    seen: set[frozenset[int]] = set()
    first: list[Guard] = []
    rest: list[Guard] = []
    for guard in ranked:
        held = holders[_key(guard)]
        (rest if held in seen else first).append(guard)
        seen.add(held)
    return first + rest


def _key(guard: Guard) -> _Key:
    source, text = (_NUMBERED.sub(r"\1", part) for part in (guard.source, guard.text))
    return source, guard.kind, guard.predicate, text


_PLAIN, _PART, _OTHER = range(3)


def _rank(guard: Guard, supplied: set[str]) -> int:
    """Guards on what is passed come first, then those on parts of it, then all others."""
    match = _LOCAL.search(guard.source or guard.text)
    if match is None or match.group(1) in supplied:
        return _OTHER
    return _PART if "." in guard.source else _PLAIN


def _cut(guard: Guard) -> Guard:
    """With texts of a length fit for a document; a cut one reads as no expression."""
    return replace(
        guard,
        text=_short(guard.text),
        expected=_short(guard.expected),
        user_line=guard.user_line[:200],
    )


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else text[:_LONGEST] + " … ("
