"""What a function's code refers to by name, the code nested in it included."""

from __future__ import annotations

import contextlib
import dis
import types
from collections.abc import Iterator
from typing import Any

from compile_ledger.observe.hooks.own_calls import own_code

_STORES = ("STORE_ATTR", "DELETE_ATTR")


def codes_of(code: types.CodeType) -> Iterator[types.CodeType]:
    """A code object and those of the comprehensions and functions inside it.

    The program's own, where a counting stand-in has its place: that names nothing.
    """
    code = own_code(code)
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from codes_of(constant)


def names_in(code: types.CodeType) -> list[str]:
    """Every name of a global or an attribute, each once, in order."""
    return list(dict.fromkeys(name for part in codes_of(code) for name in part.co_names))


def attributes_stored(code: types.CodeType) -> set[str]:
    """The attributes that the code assigns or deletes, of whatever object."""
    found = (i for part in codes_of(code) for i in dis.get_instructions(part))
    return {str(i.argval) for i in found if i.opname in _STORES}


def held_by(function: types.FunctionType) -> Iterator[tuple[str, Any]]:
    """Names and values that a function's code refers to outside its arguments."""
    for name in names_in(function.__code__):
        if name in function.__globals__:
            yield name, function.__globals__[name]
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=False)
    for name, cell in cells:
        with contextlib.suppress(ValueError):
            yield name, cell.cell_contents
    code = function.__code__
    positional = code.co_varnames[: code.co_argcount]
    defaults = function.__defaults__ or ()
    yield from zip(positional[len(positional) - len(defaults) :], defaults, strict=False)
    yield from (function.__kwdefaults__ or {}).items()
