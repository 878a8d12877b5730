"""Names that only the runtime uses, said as the program says them: the one place for it."""

from __future__ import annotations

import dataclasses
import re
from typing import Any

from .document import Ledger

_RESUMES = re.compile(r"\btorch_dynamo_resume_in_(.+?)_at_(\d+)\b|<resume in ([^>]+)>")
_ON_STACK = re.compile(r"___stack\d+, left by a graph break")
_SPOKEN = ("diagnosis", "unproven", "levels", "findings", "experiments", "verdict", "next_step")
"""What of a ledger is sentences; rows keep the names that other tools look up."""


def as_program_says(text: str) -> str:
    """A sentence in which resume functions and values left by a break have the program's names."""
    text = _RESUMES.sub(_rest, text)
    return _ON_STACK.sub("a value that the line of a graph break left", text)


def _rest(found: re.Match[str]) -> str:
    name, line, old = found.groups()
    return f"the rest of {name} after line {line}" if name else f"the rest of {old}"


def with_program_names(ledger: Ledger) -> Ledger:
    """The ledger with every sentence in the program's names."""
    spoken = {name: _said(getattr(ledger, name)) for name in _SPOKEN}
    return dataclasses.replace(ledger, **spoken)


def _said(value: Any) -> Any:
    if isinstance(value, str):
        return as_program_says(value)
    if isinstance(value, tuple):
        parts = [_said(one) for one in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
        told = {name: _said(one) for name, one in fields.items()}
        changed = {name: one for name, one in told.items() if one != fields[name]}
        return dataclasses.replace(value, **changed) if changed else value
    return value
