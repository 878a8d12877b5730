"""Puts a text into every free string of a ledger, as a stranger's trace could."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import Any, get_type_hints

FREE = (str, str | None, tuple[str, ...], dict[str, str])


def poisoned(value: Any, poison: str) -> Any:
    """A copy of the dataclass ``value`` with ``poison`` after every free string in it."""
    hints = get_type_hints(type(value))
    changes = {field.name: getattr(value, field.name) for field in fields(value)}
    for name, old in changes.items():
        changes[name] = _text(old, poison) if hints[name] in FREE else _deeper(old, poison)
    return replace(value, **changes)


def _deeper(value: Any, poison: str) -> Any:
    if is_dataclass(value):
        return poisoned(value, poison)
    if isinstance(value, tuple):
        return tuple(_deeper(item, poison) for item in value)
    return value


def _text(value: Any, poison: str) -> Any:
    if isinstance(value, str):
        return value + poison
    if isinstance(value, tuple):
        return (*(item + poison for item in value), poison)
    if isinstance(value, dict):
        return {f"{key}{poison}": f"{item}{poison}" for key, item in value.items()}
    return poison
