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
from .reach import shared_with_copy


class NoTwinError(Exception):
    """The target cannot be copied ; the message says why."""


def require_copyable(target: Any) -> None:
    """Raise :class:`NoTwinError` where a copy of the target could not stand in for it."""
    if target is None:
        msg = "the target is gone"
        raise NoTwinError(msg)
    shared = shared_with_copy(target)
    if shared:
        msg = f"a copy would share {shared}, which the call may change"
        raise NoTwinError(msg)


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
        plain.requires_grad_(tensor.requires_grad and tensor.is_leaf)
        if tensor.is_leaf and tensor.grad is not None:
            plain.grad = self._tensor(tensor.grad)
        return plain

    def module(self, module: Any) -> Any:
        """A deep copy of a module, its own compiled call, if any, left out."""
        twin, _ = _deep_copy(module)
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
                owner, copies = self._owner(target.__self__)
                return types.MethodType(self._held(target.__func__, copies), owner)
            if isinstance(target, types.FunctionType):
                return self._function(target, {})
        except Exception as error:
            msg = f"the target could not be copied: {type(error).__name__}: {error}"
            raise NoTwinError(msg[:300]) from error
        msg = f"a {type(target).__name__} cannot be copied"
        raise NoTwinError(msg)

    def _owner(self, owner: Any) -> tuple[Any, dict[int, Any]]:
        """A copy of a method's ``self``, and what was copied with it, by identity.

        One copy of everything: an optimizer and the model that it trains stay together.
        """
        import torch

        twin, pairs = _deep_copy(owner)
        copies = {id(original): copied for original, copied in pairs}
        if isinstance(owner, torch.nn.Module):
            return (twin.double() if self.double else twin), copies
        for original, copied in pairs if self.double else ():
            if isinstance(original, torch.Tensor):
                _make_double(copied)
        for name, value in vars(twin).items():
            if isinstance(value, (types.FunctionType, tuple)):
                setattr(twin, name, self._held(value, copies))
        return twin, copies

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


def _deep_copy(value: Any) -> tuple[Any, list[tuple[Any, Any]]]:
    """A deep copy that keeps gradients, which torch leaves out of it, and all that was copied.

    A step of an optimizer whose parameters have no gradients changes nothing.
    """
    import torch

    memo: dict[int, Any] = {}
    twin = copy.deepcopy(value, memo)
    originals = memo.get(id(memo), ())
    pairs = [(x, memo[id(x)]) for x in originals if memo.get(id(x), x) is not x]
    for original, copied in pairs:
        if isinstance(original, torch.nn.Module):
            copied._compiled_call_impl = None  # noqa: SLF001
        elif isinstance(original, torch.Tensor) and original.is_leaf and original.grad is not None:
            copied.grad = original.grad.detach().clone()
    return twin, pairs


def _make_double(tensor: Any) -> None:
    """Turn a tensor into fp64 where it lies, so that all that holds it has it so."""
    import torch

    wide = torch.complex128 if tensor.is_complex() else torch.float64
    if not tensor.is_complex() and not tensor.is_floating_point():
        return
    grad = tensor.grad if tensor.is_leaf else None
    tensor.grad = None
    tensor.data = tensor.data.to(wide)
    if grad is not None:
        tensor.grad = grad.to(wide)
