"""Marks our own functions so that Dynamo does not trace them."""

from __future__ import annotations

from collections.abc import Callable
from types import CodeType
from typing import Any, TypeVar

_F = TypeVar("_F", bound=Callable[..., Any])

_codes: dict[int, CodeType] = {}
_skip: list[Callable[[CodeType], Any]] = []


def ours(function: _F) -> _F:
    """Decorator: a function of ours that may run while Dynamo watches, with those inside it."""
    _mark(function.__code__)
    return function


def _mark(code: CodeType) -> None:
    if id(code) in _codes:
        return
    _codes[id(code)] = code
    for skip in _skip:
        skip(code)
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            _mark(inner)


def is_ours_code(code: CodeType) -> bool:
    """Whether a code object is of a function that was marked as ours."""
    return _codes.get(id(code)) is code


def skip_ours() -> None:
    """Tell Dynamo to leave our functions alone, those to come included.

    Raises ``AttributeError`` or ``ImportError`` where this torch lacks the calls.
    """
    from torch._dynamo import eval_frame, trace_rules

    trace_rules.add("compile_ledger")
    for code in _codes.values():
        eval_frame.skip_code(code)
    if not _skip:
        _skip.append(eval_frame.skip_code)
