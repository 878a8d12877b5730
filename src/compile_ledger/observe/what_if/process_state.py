"""Guards on the state of the process: which part changed, expected and actual."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from compile_ledger.facts.guard import Guard, Refusal

from .text import refusal
from .words import aspect_of, shown


def changed_states(rows: list[Guard], scope: dict[str, Any]) -> Iterator[Refusal]:
    """The refusals of a leaf on the process that said no."""
    for row in rows:
        if row.predicate == "global state":
            yield from _global_state(row, scope)
        else:
            yield refusal(row, aspect_of(row), row.expected, _actual(row, scope))


def _global_state(row: Guard, scope: dict[str, Any]) -> Iterator[Refusal]:
    expected = _flat(row.expected)
    actual = _now()
    changed = [name for name in expected if name in actual and actual[name] != expected[name]]
    for name in changed:
        yield refusal(row, name, str(expected[name]), str(actual[name]))
    if not changed:
        yield refusal(row, _reason(scope), "as when compiled", "changed")


def _now() -> dict[str, Any]:
    """The present state, where this torch can put it in words."""
    from torch._C._dynamo import guards

    ask = getattr(guards.GlobalStateGuard(), "__getstate__", None)
    try:
        return {} if ask is None else _flat(str(ask()))
    except TypeError:
        return {}


def _flat(text: str) -> dict[str, Any]:
    """``{"autocast_state": {"enabled": ...}}`` as ``{"autocast_state.enabled": ...}``."""
    try:
        found = json.loads(text or "{}")
    except ValueError:
        return {}
    flat: dict[str, Any] = {}
    for name, value in found.items():
        if isinstance(value, dict):
            flat.update({f"{name}.{inner}": one for inner, one in value.items()})
        else:
            flat[name] = value
    return flat


def _reason(scope: dict[str, Any]) -> str:
    """The runtime's own words for what changed, on a torch that has no other."""
    held = getattr(scope.get("___check_global_state"), "__self__", None)
    reason = getattr(held, "reason", None)
    return str(reason()).strip() if reason is not None else "global state"


def _actual(row: Guard, scope: dict[str, Any]) -> str:
    """The left side of ``name == value``, looked up in the guards' own scope."""
    left, found, _right = row.text.partition(" == ")
    value: Any = scope.get(left.partition(".")[0])
    for name in left.split(".")[1:]:
        value = getattr(value, name, None)
    return shown(value) if found else "changed"
