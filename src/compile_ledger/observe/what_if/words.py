"""Words for what a guard looks at, and short forms of values."""

from __future__ import annotations

from typing import Any

from compile_ledger.facts.guard import Guard

_LONGEST = 80
_SCALARS = (bool, int, float, complex, str, bytes, type(None))
_ASPECTS = {
    "type is": "type",
    "id is": "identity",
    "len ==": "length",
    "has key": "keys",
    "has no key": "keys",
    "has element": "elements",
    "has no element": "elements",
    "has attribute": "attribute",
    "has no attribute": "attribute",
    "are distinct": "identity",
    "global state": "state",
    "relation": "relation",
}


def aspect_of(guard: Guard) -> str:
    """What of its source a guard looks at."""
    return _ASPECTS.get(guard.predicate, "value")


def expected_of(guard: Guard) -> str:
    """What a guard expects of its source, in words."""
    if guard.predicate.startswith("has no "):
        return f"no {guard.predicate[7:]} {guard.expected}"
    if guard.predicate.startswith("has "):
        return f"{guard.predicate[4:]} {guard.expected}"
    return guard.expected


def shown(value: Any) -> str:
    """A value in at most 80 characters; tensors by their size, never their contents."""
    shape = getattr(value, "shape", None)
    if shape is not None and hasattr(value, "dtype"):
        return f"{type(value).__name__} {list(shape)} {value.dtype}"
    if isinstance(value, (list, tuple, dict, set, frozenset)) and not _is_plain(value):
        return f"{type(value).__name__} of {len(value)}"
    try:
        text = repr(value)
    except Exception:  # noqa: BLE001  a stranger's __repr__
        text = f"<{type(value).__name__}>"
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _is_plain(value: Any) -> bool:
    held = [*value, *value.values()] if isinstance(value, dict) else value
    return all(type(one) in _SCALARS for one in held)
