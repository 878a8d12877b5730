"""What a target can change besides what it is given: copies must not share it.

A copy of a region's target runs the user's code once more. That is harmless only
when everything the code can reach is copied too (modules, tensors), cannot change
(constants, code), or is not the program's (libraries).
"""

from __future__ import annotations

import contextlib
import enum
import logging
import types
from collections.abc import Iterator
from typing import Any

from compile_ledger.observe.stack import is_users

_FIXED = (
    *(bool, int, float, complex, str, bytes, type(None), type, range, slice, enum.Enum),
    *(types.ModuleType, types.BuiltinFunctionType, types.MethodDescriptorType),
    *(types.WrapperDescriptorType, logging.Logger),
)
_DEEPEST = 6


def shared_with_copy(target: Any) -> str:
    """The name of something changeable that a copy would share; empty when there is none."""
    return next(_changeable(target, 0, set()), "")


def _changeable(value: Any, depth: int, seen: set[int]) -> Iterator[str]:
    if id(value) in seen or depth > _DEEPEST:
        return
    seen.add(id(value))
    for function in functions_of(value):
        for name, held in held_by(function):
            yield from _judge(name, held, depth + 1, seen)


def _judge(name: str, held: Any, depth: int, seen: set[int]) -> Iterator[str]:
    import torch

    if isinstance(held, (types.FunctionType, types.MethodType, torch.nn.Module)):
        yield from _changeable(held, depth, seen)
    elif isinstance(held, (tuple, frozenset)):
        for part in held:
            yield from _judge(name, part, depth + 1, seen)
    elif not isinstance(held, (*_FIXED, torch.Tensor, torch.dtype, torch.device, torch.Size)):
        yield f"{name} (a {type(held).__name__})"


def functions_of(value: Any) -> list[types.FunctionType]:
    """The user's functions that calling ``value`` may run first."""
    import torch

    found: list[Any] = []
    if isinstance(value, torch.nn.Module):
        for part in value.modules():
            hooks = [*part._forward_hooks.values(), *part._forward_pre_hooks.values()]  # noqa: SLF001
            found += [type(part).forward, *hooks]
    else:
        found.append(getattr(value, "__func__", value))
    plain = [f for f in found if isinstance(f, types.FunctionType)]
    return [f for f in plain if is_users(f.__code__.co_filename)]


def held_by(function: types.FunctionType) -> Iterator[tuple[str, Any]]:
    """Names and values that a function's code refers to outside its arguments."""
    for name in function.__code__.co_names:
        if name in function.__globals__:
            yield name, function.__globals__[name]
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=False)
    for name, cell in cells:
        with contextlib.suppress(ValueError):
            yield name, cell.cell_contents
