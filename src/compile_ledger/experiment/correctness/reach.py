"""What a target can change besides what it is given: copies must not share it.

A copy of a region's target runs the user's code once more. That is harmless only
when everything the code can reach is copied too (modules, tensors), cannot change
(constants, code), or is not the program's (torch, installed packages: the registries
that these keep at module level are taken for constant). Functions are copied with
what they hold (:mod:`.twin`); methods of modules and of other objects run as they
are, so that a module or tensor which they take from outside would be shared.
"""

from __future__ import annotations

import enum
import logging
import sys
import types
from collections.abc import Iterator
from typing import Any

from compile_ledger.observe.stack import is_program

from .code_names import attributes_stored, held_by, names_in

_FIXED = (
    *(bool, int, float, complex, str, bytes, type(None), range, slice, enum.Enum),
    *(types.BuiltinFunctionType, types.MethodDescriptorType, types.WrapperDescriptorType),
    *(types.MemberDescriptorType, types.GetSetDescriptorType, logging.Logger),
)
_DEEPEST = 6

Shared = Iterator[str]


def shared_with_copy(target: Any) -> str:
    """The name of something changeable that a copy would share; empty when there is none."""
    return next(_Search().under(target, 0, copied=True), "")


class _Search:
    """One walk over what a target's code holds."""

    def __init__(self) -> None:
        self.seen: set[tuple[int, bool]] = set()

    def under(self, value: Any, depth: int, *, copied: bool) -> Shared:
        """What calling ``value`` may change; ``copied``: whether a function would be a copy."""
        if (id(value), copied) in self.seen or depth > _DEEPEST:
            return
        self.seen.add((id(value), copied))
        for function, is_copy in functions_of(value):
            for name, held in held_by(function):
                yield from self._held(function, name, held, depth + 1, copied=copied and is_copy)

    def _held(
        self, function: types.FunctionType, name: str, held: Any, depth: int, *, copied: bool
    ) -> Shared:
        import torch

        if isinstance(held, (torch.nn.Module, torch.Tensor)) and not copied:
            yield _named(name, held)
        elif isinstance(held, (types.FunctionType, types.MethodType, torch.nn.Module)):
            yield from self.under(held, depth, copied=copied)
        elif isinstance(held, (tuple, frozenset)):
            for part in held:
                yield from self._held(function, name, part, depth, copied=copied)
        elif isinstance(held, (type, types.ModuleType)):
            yield from self._attributes(function, name, held, depth)
        elif not isinstance(held, (*_FIXED, torch.Tensor, torch.dtype, torch.device, torch.Size)):
            yield _named(name, held)

    def _attributes(self, function: types.FunctionType, name: str, held: Any, depth: int) -> Shared:
        """Attributes of the user's own classes and modules that the code names."""
        if not _is_users(held):
            return
        stored = attributes_stored(function.__code__)
        for attribute in names_in(function.__code__):
            if attribute not in vars(held):
                continue
            path, value = f"{name}.{attribute}", vars(held)[attribute]
            if attribute in stored:
                yield _named(path, value)
            else:
                behind = _plain(value) or value
                yield from self._held(function, path, behind, depth + 1, copied=False)


def _named(name: str, held: Any) -> str:
    return f"{name} (a {type(held).__name__})"


def _is_users(held: Any) -> bool:
    """Whether a class or a module is neither a library's nor built in, nor an enumeration."""
    if isinstance(held, enum.EnumMeta):
        return False
    module = held if isinstance(held, types.ModuleType) else sys.modules.get(held.__module__)
    file = getattr(module, "__file__", None)
    return bool(file) and is_program(str(file))


def functions_of(value: Any) -> list[tuple[types.FunctionType, bool]]:
    """The user's functions that calling ``value`` may run first, and whether a copy has copies."""
    import torch

    found: list[tuple[Any, bool]] = []
    if isinstance(value, torch.nn.Module):
        for part in value.modules():
            hooks = [*part._forward_hooks.values(), *part._forward_pre_hooks.values()]  # noqa: SLF001
            found += [(hook, False) for hook in hooks]
            found += [(method, False) for method in _methods(type(part), "forward")]
    else:
        function = getattr(value, "__func__", value)
        found.append((function, True))
        owner = getattr(value, "__self__", None)
        name = getattr(function, "__name__", "")
        found += [(m, False) for m in _methods(type(owner), name) if m is not function]
    plain = [(f, copied) for f, copied in found if isinstance(f, types.FunctionType)]
    return [(f, copied) for f, copied in plain if is_program(f.__code__.co_filename)]


def _methods(kind: type, first: str) -> Iterator[types.FunctionType]:
    """The methods of ``kind`` and its bases called ``first``, and those that they name."""
    names, done = [first], set()
    while names:
        name = names.pop()
        if name in done:
            continue
        done.add(name)
        for base in kind.__mro__:
            method = _plain(vars(base).get(name))
            if method is not None and is_program(method.__code__.co_filename):
                names += names_in(method.__code__)
                yield method


def _plain(attribute: Any) -> types.FunctionType | None:
    """The function behind a method, a property, a static or a class method."""
    for name in ("__func__", "fget", "func"):
        attribute = getattr(attribute, name, attribute)
    return attribute if isinstance(attribute, types.FunctionType) else None
