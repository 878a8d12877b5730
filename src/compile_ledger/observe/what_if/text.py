"""Asks a guard's row, rather than the runtime's guard: for descriptions, and offline."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from compile_ledger.facts.guard import Guard, Refusal
from compile_ledger.facts.tensor_spec import TensorSpec

from .axes import Seen, differences, of_spec
from .expression import UnknownFormError, evaluate
from .words import aspect_of, expected_of, shown

_ABSENT = (KeyError, IndexError, TypeError)
_LOCAL = "L["


def ask_row(guard: Guard, values: Mapping[str, Any]) -> list[Refusal]:
    """Every way in which the values fail one guard; empty: it holds.

    Raises :class:`UnknownFormError` where that cannot be told from descriptions.
    """
    if guard.predicate in _BY_PREDICATE:
        return list(_BY_PREDICATE[guard.predicate](guard, values))
    if guard.predicate == "has no attribute" and guard.expected.startswith("_dynamo_"):
        _described(guard, values)
        return []
    try:
        holds = bool(evaluate(guard.text, values))
    except _ABSENT:
        return [_absent(guard)]
    return (
        []
        if holds
        else [refusal(guard, aspect_of(guard), expected_of(guard), _actual(guard, values))]
    )


def refusal(guard: Guard, aspect: str, expected: str, actual: str) -> Refusal:
    """A refusal by this guard."""
    return Refusal(
        source=guard.source,
        kind=guard.kind,
        aspect=aspect,
        expected=expected,
        actual=actual,
        text=guard.text,
        user_line=guard.user_line,
        place=guard.place,
        hint=guard.hint,
    )


def without_echoes(found: Iterable[Refusal]) -> list[Refusal]:
    """Leave out what only follows: parts of a value that is missing or of another type."""
    kept: list[Refusal] = []
    broken: list[str] = []
    for one in sorted(found, key=lambda refusal: len(refusal.source)):
        echo = any(one.source.startswith(source) for source in broken)
        if one.aspect == "presence" and echo:
            continue
        kept.append(one)
        if one.aspect in ("presence", "type") and one.source:
            broken.append(one.source)
    return kept


def _absent(guard: Guard) -> Refusal:
    return refusal(guard, "presence", "present", "missing")


def _value(guard: Guard, values: Mapping[str, Any]) -> Any:
    if not guard.source.startswith(_LOCAL):
        raise UnknownFormError(guard.source or guard.text)
    return evaluate(guard.source, values)


def _described(guard: Guard, values: Mapping[str, Any]) -> Any:
    value = _value(guard, values)
    if isinstance(value, TensorSpec):
        return value
    raise UnknownFormError(guard.text)


def _actual(guard: Guard, values: Mapping[str, Any]) -> str:
    if guard.predicate == "relation":
        return "false"
    if guard.predicate.startswith("has "):
        return "present" if guard.predicate.startswith("has no ") else "absent"
    try:
        value = evaluate(guard.source, values)
    except (UnknownFormError, *_ABSENT):
        return ""
    return str(len(value)) if guard.predicate == "len ==" else shown(value)


def _tensor(guard: Guard, values: Mapping[str, Any]) -> Iterable[Refusal]:
    try:
        value = _value(guard, values)
    except _ABSENT:
        return [_absent(guard)]
    if not isinstance(value, TensorSpec) or guard.tensor is None:
        return [refusal(guard, "type", "Tensor", _type(value))]
    seen: Seen = of_spec(value)
    return [refusal(guard, *found) for found in differences(guard.tensor, seen)]


def _type_is(guard: Guard, values: Mapping[str, Any]) -> Iterable[Refusal]:
    try:
        actual = _type(_value(guard, values))
    except _ABSENT:
        return [_absent(guard)]
    expected = guard.expected or f"<class '{guard.value_type}'>"
    same = actual == expected
    return [] if same else [refusal(guard, "type", expected, actual)]


def _id_is(guard: Guard, values: Mapping[str, Any]) -> Iterable[Refusal]:
    """An object cannot be told apart offline, but its type can."""
    found = list(_type_is(guard, values))
    if not found:
        raise UnknownFormError(guard.text)
    return found


def _distinct(guard: Guard, values: Mapping[str, Any]) -> Iterable[Refusal]:
    """Two names for one tensor, where the entry was made for distinct ones."""
    sources = guard.expected.split(", ")
    found = [evaluate(source, values) for source in sources]
    for place, value in enumerate(found):
        for earlier in range(place):
            if value is found[earlier]:
                pair = f"{sources[earlier]} is {sources[place]}"
                return [refusal(guard, "identity", "distinct tensors", pair)]
    return []


def _type(value: Any) -> str:
    return "<class 'torch.Tensor'>" if isinstance(value, TensorSpec) else str(type(value))


_BY_PREDICATE = {
    "tensor": _tensor,
    "type is": _type_is,
    "id is": _id_is,
    "are distinct": _distinct,
}
