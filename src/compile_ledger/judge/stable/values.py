"""The values that calls brought: as the arm kept them, as entries were made for them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from compile_ledger.facts.calls import Call
from compile_ledger.judge.classify_guard import GuardFailure
from compile_ledger.judge.view import View
from compile_ledger.judge.words import count

from .causes import Cause, noun_of, values_seen

_KEYWORD = re.compile(r"kwargs\['(\w+)'\]$")
_KEYS = re.compile(r"DispatchKeySet\((.*)\)$")
_CLASS = re.compile(r"<class '(.*)'>$")
_LONG_FLOAT = re.compile(r"-?\d+\.\d{7,}(?:e-?\d+)?")
_VAGUE = ("", "more", "another function")
_LONGEST = 40


def values_brought(view: View, found: Cause, region: int | None, unseen: int) -> str:
    """``12 distinct lengths`` from the calls' own values, else what the reasons prove."""
    kept = _kept(view, found, region)
    if kept is None or len(kept) < found.distinct:
        return values_seen(found, unseen)
    return count(len(kept), f"distinct {noun_of(found.key)}")


def some_values(view: View, found: Cause, region: int | None) -> tuple[str, ...]:
    """The values in few letters, in the order in which they came; empty: none is known."""
    kept = _kept(view, found, region)
    if kept is None or len(kept) < found.distinct:
        kept = tuple(dict.fromkeys(_in_turn(found)))
    return tuple(short(value) for value in _told_apart(kept))


def short(value: str) -> str:
    """A value in few letters; a class by its name, a float in six digits."""
    named = _CLASS.sub(r"\1", value)
    named = f"{float(named):.6g}" if _LONG_FLOAT.fullmatch(named) else named
    return named if len(named) <= _LONGEST else f"{named[: _LONGEST - 3]}..."


def _in_turn(found: Cause) -> Iterator[str]:
    """The values of a cause, each failure's expected one and what its call brought."""
    for failure in found.failures:
        both = (failure.expected, failure.actual)
        yield from (_placed(found, failure, v) for v in both if v not in _VAGUE)


def _placed(found: Cause, failure: GuardFailure, value: str) -> str:
    """A dictionary's key with its place, where guards ask for keys at several."""
    if failure.kind != "dict-keys" or not failure.detail.isdigit():
        return value
    several = any(other.detail != failure.detail for other in found.failures)
    return f"key {failure.detail}: {value}" if several else value


def _kept(view: View, found: Cause, region: int | None) -> tuple[str, ...] | None:
    """Distinct values over a region's calls, where each call kept its own; else None."""
    if region is None:
        return None
    values = [_argument(call, found.key.subject, found) for call in view.calls.get(region, ())]
    known = [value for value in values if value is not None]
    return tuple(dict.fromkeys(known)) if known and len(known) == len(values) else None


def _argument(call: Call, subject: str, found: Cause) -> str | None:
    name = parameter(subject)
    if found.key.kind == "size" and found.key.axis is not None:
        size = call.sizes.get(name)
        return str(size[found.key.axis]) if size and len(size) > found.key.axis else None
    named = found.key.kind == "identity" or found.key.kind.startswith("constant")
    return call.constants.get(name) if named else None


def parameter(subject: str) -> str:
    """The parameter that a guard's subject stands for: ``kwargs['ids']`` is ``ids``."""
    match = _KEYWORD.match(subject)
    return match.group(1) if match else subject


def _told_apart(values: Iterable[str]) -> tuple[str, ...]:
    """Sets of dispatch keys by what not all of them have; other values as they are."""
    every = tuple(values)
    matches = [_KEYS.match(value) for value in every]
    sets = [dict.fromkeys(m.group(1).split(", ")) for m in matches if m]
    if len(sets) != len(every) or len(sets) < 2:  # noqa: PLR2004  nothing to compare
        return every
    common = set(sets[0]).intersection(*sets[1:])
    own = ["+".join(key for key in keys if key not in common) for keys in sets]
    without = f"without {'/'.join(filter(None, own))}"
    return tuple(f"with {keys}" if keys else without for keys in own)
