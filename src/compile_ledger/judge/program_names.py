"""Names that only the runtime uses, said as the program says them: the one place for it."""

from __future__ import annotations

import ast
import dataclasses
import re
from collections.abc import Callable, Sequence
from typing import Any

from compile_ledger.facts.place import Place

from .document import CodeObjectRow, Evidence, Ledger
from .words import listed

_RESUMES = re.compile(r"\btorch_dynamo_resume_in_(.+?)_at_(\d+)\b|<resume in ([^>]+)>")
_ON_STACK = re.compile(r"(?:L\['___stack\d+'\]|___stack\d+)(?:, left by a graph break)?")
_LEFT = re.compile(r"a value that ([^\s,;()]+|<[^>]+>):(\d+) left")
_UNNAMED = "a value that the line of a graph break left"
_WRAPPERS = ("inner", "wrap_inline.<locals>.inner")
_WRAPPERS_FILE = "torch/_dynamo/external_utils.py"
_SPOKEN = (
    *("diagnosis", "unproven", "levels", "findings", "experiments", "verdict", "next_step"),
    *("lines", "opinions", "contradictions", "not_measured"),
)
"""What of a ledger is sentences; rows and subjects keep the names that tools look up."""


def frame_name(name: str, file: str, targets: Sequence[str] = ()) -> str:
    """A code object as the program names it.

    ``targets``: what the regions that enter it compiled. Torch compiles library modules,
    partials and callable objects through a function of its own, whose name tells nobody.
    """
    if name in _WRAPPERS and file.replace("\\", "/").endswith(_WRAPPERS_FILE):
        return f"torch's wrapper of {listed(dict.fromkeys(targets), 3) or 'what was compiled'}"
    return as_program_says(name)


def code_object_name(ledger: Ledger, code: CodeObjectRow) -> str:
    """A row's code object as the program names it."""
    targets = [region.target for region in ledger.regions if code.id in region.code_objects]
    return frame_name(code.name, code.file, targets)


def as_program_says(text: str, left: str = _UNNAMED) -> str:
    """A sentence in which resume functions and values left by a break have the program's names."""
    return _ON_STACK.sub(left, _RESUMES.sub(_rest, text))


def _rest(found: re.Match[str]) -> str:
    name, line, old = found.groups()
    return f"the rest of {name} after line {line}" if name else f"the rest of {old}"


def with_program_names(ledger: Ledger) -> Ledger:
    """The ledger with every sentence in the program's names."""
    places = {code.id: at for code in ledger.code_objects if (at := _left_by(code))}
    only = _UNNAMED if len(set(places.values())) != 1 else next(iter(places.values()))
    findings = {
        one.sentence: as_program_says(one.sentence, places.get(one.code_object or -1, only))
        for one in ledger.findings
    }
    told = {raw: said for raw, said in findings.items() if raw != said}

    def say(text: str) -> str:
        for raw, said in told.items():
            text = text.replace(raw, said)
        return as_program_says(text, only)

    return _everywhere(ledger, say)


def with_values_named(ledger: Ledger, source_of: Callable[[Place], str]) -> Ledger:
    """The ledger with the text of the line beside each value that a break left on the stack."""

    def named(found: re.Match[str]) -> str:
        file, line = found.groups()
        text = source_of(Place(file, int(line)))
        return f"{_result(text)} at {file}:{line}" if text else found.group()

    return _everywhere(ledger, lambda text: _LEFT.sub(named, text))


def _left_by(code: CodeObjectRow) -> str:
    """The line that left what a resume function's guards ask about; empty where none do."""
    resumes = _RESUMES.search(code.name)
    asked = any("___stack" in reason for reason in code.recompile_reasons)
    if not asked or resumes is None or not resumes.group(2):
        return ""
    return f"a value that {code.file}:{resumes.group(2)} left"


def _result(line: str) -> str:
    """``the result of `x[mask]```, where the line computes one thing; else a value of the line."""
    try:
        (statement,) = ast.parse(line).body
    except (SyntaxError, ValueError):
        return f"a value of `{line}`"
    parts = [one for one in ast.walk(statement) if isinstance(one, ast.Call | ast.Subscript)]
    if parts and parts == [getattr(statement, "value", None)]:
        return f"the result of `{ast.unparse(parts[0])}`"
    return f"a value of `{line}`"


def _everywhere(ledger: Ledger, say: Callable[[str], str]) -> Ledger:
    spoken = {name: _said(getattr(ledger, name), say) for name in _SPOKEN}
    return dataclasses.replace(ledger, **spoken)


def _said(value: Any, say: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return say(value)
    if isinstance(value, Evidence):
        return value  # What an instrument said stays as it said it.
    if isinstance(value, tuple):
        parts = [_said(one, say) for one in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = (field.name for field in dataclasses.fields(value) if field.name != "subject")
        fields = {name: getattr(value, name) for name in names}
        told = {name: _said(one, say) for name, one in fields.items()}
        changed = {name: one for name, one in told.items() if one != fields[name]}
        return dataclasses.replace(value, **changed) if changed else value
    return value
