"""The parameters of a code object's function, enough to bind a call without it."""

from __future__ import annotations

import inspect
from types import CodeType
from typing import Any

from compile_ledger.facts.cache_line import Parameter

from .target import Target

_Kind = inspect.Parameter


def parameters(target: Target) -> tuple[Parameter, ...]:
    """The parameters of a region's root."""
    found = inspect.signature(target.function, follow_wrapped=False).parameters.values()
    given = len(target.lead)
    return tuple(
        Parameter(
            name=one.name,
            kind=int(one.kind),
            default=_default(one.default),
            given=place < given or one.name in target.keywords,
        )
        for place, one in enumerate(found)
    )


def _default(value: Any) -> str | None:
    if value is inspect.Parameter.empty:
        return None
    literal = value is None or type(value) in (bool, int, float, str, bytes)
    return repr(value) if literal else ""


def parameters_of_code(code: CodeType, *, bound: bool) -> tuple[Parameter, ...]:
    """The same where only the code object is left: every parameter may be left out.

    ``bound``: the region itself supplies the first one.
    """
    positional, keyword = code.co_argcount, code.co_kwonlyargcount
    kinds: list[Any] = [_Kind.POSITIONAL_ONLY] * code.co_posonlyargcount
    kinds += [_Kind.POSITIONAL_OR_KEYWORD] * (positional - code.co_posonlyargcount)
    names = list(code.co_varnames)
    found = list(zip(names, kinds, strict=False))
    rest = names[positional + keyword :]
    if code.co_flags & inspect.CO_VARARGS:
        found.append((rest.pop(0), _Kind.VAR_POSITIONAL))
    found += [(name, _Kind.KEYWORD_ONLY) for name in names[positional : positional + keyword]]
    if code.co_flags & inspect.CO_VARKEYWORDS:
        found.append((rest.pop(0), _Kind.VAR_KEYWORD))
    return tuple(
        Parameter(name, int(kind), _unless_variadic(kind), given=bound and place == 0)
        for place, (name, kind) in enumerate(found)
    )


def _unless_variadic(kind: Any) -> str | None:
    return None if kind in (_Kind.VAR_POSITIONAL, _Kind.VAR_KEYWORD) else ""
