"""Copies of a region's target: in fp64 as the reference, or as it is for an eager twin."""

from __future__ import annotations

import contextlib
import copy
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from compile_ledger.observe.stack import is_users

from .code_names import names_in


class NoTwinError(Exception):
    """The target cannot be copied ; the message says why."""


@dataclass(frozen=True)
class Twin:
    """Makes copies of values: in fp64 when ``double``, else as they are."""

    double: bool = True
    grads: bool = False
    """Whether copies of tensors that were computed require a gradient as these do."""

    def value(self, value: Any) -> Any:
        """A deep copy of ``value`` whose tensors are copies."""
        from torch.utils import _pytree as pytree

        return pytree.tree_map(self._leaf, value)

    def _leaf(self, leaf: Any) -> Any:
        import torch

        if isinstance(leaf, torch.nn.Module):
            return self.module(leaf)
        return self._tensor(leaf) if isinstance(leaf, torch.Tensor) else copy.deepcopy(leaf)

    def _tensor(self, tensor: Any) -> Any:
        import torch

        plain = tensor.detach().clone()
        if self.double and plain.is_floating_point():
            plain = plain.double()
        elif self.double and plain.is_complex():
            plain = plain.to(torch.complex128)
        if self.grads and tensor.requires_grad and not tensor.is_leaf:
            with torch.enable_grad():
                return plain.requires_grad_().clone()  # No leaf, as its original is none.
        return plain.requires_grad_(tensor.requires_grad and tensor.is_leaf)

    def module(self, module: Any) -> Any:
        """A deep copy of a module, its own compiled call, if any, left out."""
        twin = copy.deepcopy(module)
        for part in twin.modules():
            part._compiled_call_impl = None  # noqa: SLF001
        return twin.double() if self.double else twin

    def target(self, target: Any) -> Callable[..., Any]:
        """A callable that runs ``target``'s code on copies of what it holds.

        Raises :class:`NoTwinError`.
        """
        import torch

        try:
            if isinstance(target, torch.nn.Module):
                module: Callable[..., Any] = self.module(target)
                return module
            if isinstance(target, types.MethodType):
                function = self._held(target.__func__, {})
                return types.MethodType(function, self._owner(target.__self__))
            if isinstance(target, types.FunctionType):
                return self._function(target, {})
        except Exception as error:
            msg = f"the target could not be copied: {type(error).__name__}: {error}"
            raise NoTwinError(msg[:300]) from error
        msg = f"a {type(target).__name__} cannot be copied"
        raise NoTwinError(msg)

    def _owner(self, owner: Any) -> Any:
        import torch

        if isinstance(owner, torch.nn.Module):
            return self.module(owner)
        twin = copy.deepcopy(owner)
        for name, value in vars(twin).items():
            setattr(twin, name, self._held(value, {}))
        return twin

    def _held(self, value: Any, done: dict[int, Any]) -> Any:
        """A copy of what a function holds; ``done`` are the copies so far, by identity."""
        if id(value) not in done:
            done[id(value)] = self._held_copy(value, done)
        return done[id(value)]

    def _held_copy(self, value: Any, done: dict[int, Any]) -> Any:
        import torch

        if isinstance(value, (torch.nn.Module, torch.Tensor)):
            return self._leaf(value)
        if isinstance(value, types.FunctionType) and is_users(value.__code__.co_filename):
            return self._function(value, done)
        if type(value) is tuple:
            return tuple(self._held(part, done) for part in value)
        return value

    def _function(self, function: types.FunctionType, done: dict[int, Any]) -> types.FunctionType:
        """The same code over globals and cells whose functions, modules and tensors are copies.

        Functions of one module share one copy of its globals.
        """
        own = function.__globals__
        over = done.setdefault(id(own), dict(own))
        cells = tuple(types.CellType() for _ in function.__closure__ or ())
        twin = types.FunctionType(function.__code__, over, function.__name__, None, cells or None)
        done[id(function)] = twin
        for name in names_in(function.__code__):
            if name in own:
                over[name] = self._held(own[name], done)
        for cell, copied in zip(function.__closure__ or (), cells, strict=True):
            with contextlib.suppress(ValueError):
                copied.cell_contents = self._held(cell.cell_contents, done)
        twin.__defaults__ = self._held(function.__defaults__, done)
        named = function.__kwdefaults__ or {}
        twin.__kwdefaults__ = {n: self._held(v, done) for n, v in named.items()}
        return twin
