"""Copies of a region's target: in fp64 as the reference, or as it is for an eager twin."""

from __future__ import annotations

import copy
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


class NoTwinError(Exception):
    """The target cannot be copied ; the message says why."""


@dataclass(frozen=True)
class Twin:
    """Makes copies of values: in fp64 when ``double``, else as they are."""

    double: bool = True

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
                return types.MethodType(target.__func__, self._owner(target.__self__))
            if isinstance(target, types.FunctionType):
                return self._function(target)
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
            setattr(twin, name, self._held(value))
        return twin

    def _held(self, value: Any) -> Any:
        import torch

        return self._leaf(value) if isinstance(value, (torch.nn.Module, torch.Tensor)) else value

    def _function(self, function: types.FunctionType) -> types.FunctionType:
        """The same code over globals and cells whose modules and tensors are copies."""
        names = set(function.__code__.co_names)
        changed = {n: self._held(v) for n, v in function.__globals__.items() if n in names}
        twin = types.FunctionType(
            function.__code__,
            {**function.__globals__, **changed},
            function.__name__,
            function.__defaults__,
            tuple(self._cell(cell) for cell in function.__closure__ or ()) or None,
        )
        twin.__kwdefaults__ = function.__kwdefaults__
        return twin

    def _cell(self, cell: Any) -> Any:
        try:
            return types.CellType(self._held(cell.cell_contents))
        except ValueError:
            return types.CellType()
