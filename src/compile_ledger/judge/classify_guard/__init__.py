"""What a guard failure's text says: kind, subject, axis, expected, actual.

The texts are those of torch 2.4 to 2.14. What is not known is ``other``.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from . import objects, states, tensors, values
from .clean import Parts, take_apart
from .failure import GuardFailure, Scope
from .kinds import KINDS, Kind
from .rules import Rule

__all__ = ["KINDS", "GuardFailure", "Kind", "Scope", "classify_guard"]

_RULES: tuple[Rule, ...] = tensors.RULES + states.RULES + objects.RULES
_OF_THE_PROCESS = frozenset(
    {
        "global-state",
        "function-mode",
        "default-device",
        "tensor-hooks",
        "functorch",
        "dual-level",
        "backend",
        "error",
        "concurrent",
    }
)


@lru_cache(maxsize=4096)
def classify_guard(text: str) -> GuardFailure:
    """Classify one reason why a cache entry refused a call."""
    parts = take_apart(text)
    rules = _RULES if values.is_prose(parts.body) else _RULES + values.RULES
    for rule in rules:
        match = rule.pattern.match(parts.body)
        if match:
            return _complete(rule.build(match), parts, text)
    return _complete(GuardFailure("other"), parts, text)


def _complete(found: GuardFailure, parts: Parts, text: str) -> GuardFailure:
    return replace(
        found,
        scope=_scope(found, parts.hint),
        entry=parts.entry,
        user_line=parts.place,
        hint=parts.hint,
        text=text,
    )


def _scope(found: GuardFailure, hint: str) -> Scope:
    if found.kind in _OF_THE_PROCESS:
        return "process"
    return values.scope_of(found.subject, hint) if found.subject else ""
