"""What the entries of a cache line assume, in words, and where they differ."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from compile_ledger.facts.cache_line import CodeLine, Entry
from compile_ledger.facts.guard import Guard, TensorAssumption
from compile_ledger.facts.place import Place
from compile_ledger.facts.tensor_spec import contiguous
from compile_ledger.judge.classify_guard.clean import plain

MOST = 8
"""Assumptions shown of one entry before the rest is counted."""

_OF_ARGUMENTS = ("size", "stride", "dtype", "requires_grad", "value", "relation", "length")


@dataclass(frozen=True, slots=True)
class Assumption:
    """One thing that an entry assumes, short enough for a line."""

    text: str
    aspect: str
    source: str = ""
    place: Place | None = None
    dense: bool = False
    """Whether it is the stride of a contiguous tensor, which its size tells, too."""


@dataclass(frozen=True, slots=True)
class EntryRows:
    """What is shown of one entry: what sets it apart, and how much is folded."""

    entry: Entry
    shown: tuple[Assumption, ...]
    more: int
    apart: int = 0
    """How many of the first ones it takes to tell it from every other entry: never folded."""

    @property
    def told(self) -> tuple[Assumption, ...]:
        """What is shown, without strides that follow from a size that is shown, too."""
        sized = {one.source for one in self.shown if one.aspect == "size"}
        return tuple(one for one in self.shown if not (one.dense and one.source in sized))


@dataclass(frozen=True, slots=True)
class LineRows:
    """The entries of one code object, and what is folded of all of them."""

    entries: tuple[EntryRows, ...]
    folded: int
    """Assumptions of one entry that every valid entry shares, or that tell nothing alone."""


def line_rows(line: CodeLine) -> LineRows:
    """Each entry with the assumptions that not every other valid entry shares."""
    held = [list(assumptions(line.guards_of(entry))) for entry in line.entries]
    valid = [
        {one.text for one in all_}
        for entry, all_ in zip(line.entries, held, strict=True)
        if entry.valid
    ]
    alone = len(valid) <= 1
    common = set() if alone else set.intersection(*valid)
    found = []
    folded = 0
    for entry, all_ in zip(line.entries, held, strict=True):
        apart = _apart(all_, common, alone=alone)
        first = [] if alone else _separating(apart, [one for one in held if one is not all_])
        apart = [*first, *(one for one in apart if one not in first)]
        most = max(MOST, len(first))
        more = len(apart[most:]) + (0 if alone else entry.folded)
        found.append(EntryRows(entry, tuple(apart[:most]), more, len(first)))
        folded = max(folded, len(all_) - len(apart) + (entry.folded if alone else 0))
    return LineRows(tuple(found), folded + line.folded)


def _apart(held: list[Assumption], common: set[str], *, alone: bool) -> list[Assumption]:
    """What sets one entry apart; of a single entry, what it assumes of its arguments."""
    apart = [one for one in held if one.text not in common]
    if not alone:
        return apart
    return [one for one in apart if one.aspect in _OF_ARGUMENTS and _is_argument(one.source)]


def _separating(own: list[Assumption], others: list[list[Assumption]]) -> list[Assumption]:
    """The fewest assumptions that tell an entry from each other one.

    Of one thing two entries assume different values, or only one of them assumes anything.
    """
    values = [{_slot(one): one.text for one in other} for other in others]
    texts = [{one.text for one in other} for other in others]
    left = set(range(len(others)))
    found = _cover(own, left, lambda one, i: values[i].get(_slot(one), one.text) != one.text)
    return found + _cover(own, left, lambda one, i: one.text not in texts[i])


def _cover(
    own: list[Assumption], left: set[int], tells: Callable[[Assumption, int], bool]
) -> list[Assumption]:
    """Assumptions, the one that tells most entries apart first; ``left`` keeps the others."""
    of = {one: {i for i in left if tells(one, i)} for one in own if one.aspect not in _TANGLED}
    found = []
    while left and (best := max(of, key=lambda one: len(of[one] & left), default=None)):
        if not of[best] & left:
            break
        found.append(best)
        left -= of[best]
    return found


_TANGLED = ("are distinct", "expr", "dispatch keys", "stride")
"""What differs along with something simpler."""


def _slot(one: Assumption) -> tuple[str, str]:
    """What an assumption is about; a state of the process by its name."""
    return one.source or one.text.partition(" ")[0], one.aspect


def _is_argument(source: str) -> bool:
    """Whether it is a local itself, or an element of one, rather than an attribute."""
    return "." not in source and not source.startswith("G[")


def assumptions(guards: tuple[Guard, ...]) -> Iterator[Assumption]:
    """Everything that guards assume; one for each axis of a tensor that is told apart."""
    seen = set()
    tensors = {guard.source for guard in guards if guard.tensor is not None}
    for guard in guards:
        if guard.predicate == "type is" and guard.source in tensors:
            continue
        for one in _of_guard(guard):
            if one.text not in seen:
                seen.add(one.text)
                yield one


def _of_guard(guard: Guard) -> Iterator[Assumption]:
    source = plain(guard.source)
    if guard.tensor is not None:
        yield from _of_tensor(source, guard.tensor, guard.place)
    elif guard.predicate == "global state":
        yield from _of_state(guard.expected)
    else:
        yield Assumption(_worded(guard, source), _aspect(guard), source, guard.place)


def _of_tensor(source: str, assumed: TensorAssumption, place: Place | None) -> Iterator[Assumption]:
    size, stride = _numbers(assumed.size), _numbers(assumed.stride)
    for aspect, value in (
        ("size", size),
        ("stride", stride),
        ("dtype", assumed.dtype.removeprefix("torch.")),
        ("requires_grad", str(assumed.requires_grad)),
        ("tensor type", assumed.type),
        ("device index", str(assumed.device_index)),
        ("dispatch keys", " ".join(assumed.dispatch_keys)),
    ):
        dense = aspect == "stride" and _is_dense(assumed)
        yield Assumption(f"{source} {aspect} {value}", aspect, source, place, dense)


def _is_dense(assumed: TensorAssumption) -> bool:
    if None in assumed.size:
        return False
    plain = contiguous(tuple(n or 0 for n in assumed.size))
    return all(a in (None, b) for a, b in zip(assumed.stride, plain, strict=False))


def _of_state(expected: str) -> Iterator[Assumption]:
    try:
        states = json.loads(expected or "{}")
    except ValueError:
        states = {"global state": expected}
    for name, value in states.items():
        yield Assumption(f"{name} {json.dumps(value)}", "state")


def _numbers(values: tuple[int | None, ...]) -> str:
    return "[" + ", ".join("any" if n is None else str(n) for n in values) + "]"


def _worded(guard: Guard, source: str) -> str:
    kind = guard.expected.removeprefix("<class '").removesuffix("'>")
    return {
        "type is": f"{source} is a {kind}",
        "id is": f"{source} is one certain {kind or 'object'}",
        "are distinct": f"{plain(guard.expected)} are distinct tensors",
    }.get(guard.predicate, plain(guard.text))


def _aspect(guard: Guard) -> str:
    if guard.predicate in ("==", "is") and guard.source:
        return "value"
    return {"relation": "relation", "len ==": "length"}.get(guard.predicate, guard.predicate)
