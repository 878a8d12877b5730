"""What a call meets besides its arguments: modes of its thread, and state that it can reach.

A replayed call has to meet the same again, or guards refuse it: the modes that the program
set around it, and the attributes, lists and dicts of the modules and objects that its code
reaches (``training`` is one of them, a counter or a list that grows is another).
"""

from __future__ import annotations

import copy
import types
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

from .correctness.code_names import held_by
from .correctness.leaves import tensors
from .correctness.reach import functions_of

_DEVICES = ("cpu", "cuda")
_CONTAINERS = (dict, list, set, deque)
_MOST_CONTAINERS = 4000
_LONGEST = 4096
"""Containers that are noted at a call, and the longest of them: more would slow the program."""
_MOST_BYTES = 256 * 2**20


@dataclass(frozen=True)
class Modes:
    """What a program can set around a call that its guards look at."""

    grad: bool
    inference: bool
    autocast: tuple[tuple[str, bool, Any], ...]
    """Device, whether autocast is on for it, and its dtype."""

    @staticmethod
    def now() -> Modes:
        """The modes of this thread."""
        import torch

        casts = tuple(
            (device, torch.is_autocast_enabled(device), torch.get_autocast_dtype(device))
            for device in _DEVICES
        )
        return Modes(torch.is_grad_enabled(), torch.is_inference_mode_enabled(), casts)

    @contextmanager
    def again(self) -> Iterator[None]:
        """Set them as they were."""
        import torch

        with ExitStack() as stack:
            stack.enter_context(torch.inference_mode(self.inference))
            stack.enter_context(torch.set_grad_enabled(self.grad))
            for device, on, dtype in self.autocast:
                if on or torch.is_autocast_enabled(device):
                    stack.enter_context(torch.autocast(device, dtype, enabled=on))
            yield


class Reached:
    """The modules, optimizers and objects that a call reaches through its target or is given."""

    def __init__(self, target: Any, given: Iterable[Any]) -> None:
        """Look once; what these hold is looked up at each call."""
        import torch

        self.roots = [*_roots(target), *(v for v in given if isinstance(v, _objects()))]
        self.modules: list[Any] = []
        for root in self.roots:
            if isinstance(root, torch.nn.Module):
                self.modules += root.modules()
        self.plain = set(vars(torch.nn.Module()))
        """Attributes of every module, its hooks among them."""

    def training(self) -> tuple[bool, ...]:
        """Each module's flag."""
        return tuple(module.training for module in self.modules)

    def parameters(self) -> list[Any]:
        """What gradients are kept of, each once."""
        found = {id(p): p for m in self.modules for p in vars(m).get("_parameters", {}).values()}
        return [p for p in found.values() if p is not None and p.requires_grad]

    def python_state(self) -> list[tuple[Any, Any]]:
        """Every container, and a shallow copy of it."""
        found: dict[int, Any] = {}
        for container in self._containers():
            if len(found) > _MOST_CONTAINERS:
                break
            if len(container) <= _LONGEST:
                found.setdefault(id(container), container)
        return [(container, copy.copy(container)) for container in found.values()]

    def _containers(self) -> Iterator[Any]:
        import torch

        for module in self.modules:
            own = vars(module)
            yield own
            names = own.keys() - self.plain | {"_parameters", "_buffers"}
            yield from (own[n] for n in names if isinstance(own.get(n), _CONTAINERS))
        for root in self.roots:
            if isinstance(root, torch.optim.Optimizer):
                yield from root.param_groups
            elif isinstance(root, _CONTAINERS):
                yield from _nested(root)
            elif not isinstance(root, torch.nn.Module):
                yield from _nested(vars(root))

    def contents(self) -> Contents:
        """The tensors that calls may write to, with what they hold now."""
        import torch

        found: list[Any] = []
        for m in self.modules:
            found += (*m.parameters(recurse=False), *m.buffers(recurse=False))
        for root in self.roots:
            if isinstance(root, torch.optim.Optimizer):
                found += [t for _, t in tensors(root.state)]
                found += [t for _, t in tensors(root.param_groups)]
            elif not isinstance(root, torch.nn.Module):
                found += [t for _, t in tensors(root)]
        return Contents(found)


def put_back(state: Iterable[tuple[Any, Any]]) -> None:
    """Make containers hold again what they held; those that do are not touched."""
    for container, was in state:
        if not _same(container, was):
            container.clear()
            if isinstance(container, (dict, set)):
                container.update(was)
            else:
                container.extend(was)


class Contents:
    """What tensors hold, to be put back after calls that wrote to them.

    Too much of it is not kept: then calls go on from what the last one left.
    """

    def __init__(self, every: Iterable[Any]) -> None:
        """Copy them."""
        each = {id(t): t for t in every if not t.is_inference()}.values()
        small = sum(t.numel() * t.element_size() for t in each) <= _MOST_BYTES
        self.kept = [[t, t.detach().clone(), t._version] for t in each] if small else []  # noqa: SLF001

    def put_back(self) -> None:
        """Write the copies to the tensors whose version rose."""
        import torch

        with torch.no_grad():
            for row in self.kept:
                tensor, was, version = row
                if tensor._version != version:  # noqa: SLF001
                    tensor.copy_(was)
                    row[2] = tensor._version  # noqa: SLF001


def _objects() -> tuple[type, ...]:
    """Types of arguments that calls share with their program."""
    import torch

    return (torch.nn.Module, torch.optim.Optimizer)


def _roots(target: Any) -> list[Any]:
    """Modules, optimizers, containers and objects that the code under ``target`` refers to."""
    found, seen, left = {}, set(), [target]
    while left:
        value = left.pop()
        owner = getattr(value, "__self__", value)
        if not isinstance(owner, types.FunctionType):
            found[id(owner)] = owner
        for function, _ in functions_of(value):
            if id(function) in seen:
                continue
            seen.add(id(function))
            for _, held in held_by(function):
                if isinstance(held, (types.FunctionType, types.MethodType)):
                    left.append(held)
                elif _has_state(held):
                    found[id(held)] = held
    return [value for value in found.values() if _has_state(value)]


def _has_state(held: Any) -> bool:
    import torch

    if isinstance(held, (*_objects(), *_CONTAINERS)):
        return True
    if isinstance(held, (type, types.ModuleType, torch.Tensor)) or callable(held):
        return False
    return hasattr(held, "__dict__")


def _nested(container: Any) -> Iterator[Any]:
    """A container and those directly in it."""
    yield container
    inside = container.values() if isinstance(container, dict) else container
    yield from [one for one in inside if isinstance(one, _CONTAINERS)]


def _same(container: Any, was: Any) -> bool:
    if len(container) != len(was):
        return False
    if isinstance(container, set):
        return bool(container == was)
    if isinstance(container, dict):
        missing = object()
        return all(container.get(key, missing) is value for key, value in was.items())
    return all(now is then for now, then in zip(container, was, strict=True))


class Copier:
    """Copies of arguments that guards take for the originals.

    Tensors keep their strides, what they require, and their kind (inference or not);
    one that was given twice is one copy. Modules, optimizers and functions are the
    program's own: a call gets the same ones again.
    """

    def __init__(self, shared: Iterable[Any]) -> None:
        """``shared``: what copies keep a reference to."""
        self._memo: dict[int, Any] = {id(value): value for value in shared}
        self._alive: list[Any] = []

    def value(self, value: Any) -> Any:
        """The copy of ``value``."""
        from torch.utils import _pytree as pytree

        return pytree.tree_map(self._leaf, value)

    def _leaf(self, leaf: Any) -> Any:
        import torch

        if id(leaf) not in self._memo:
            self._alive.append(leaf)
            copied: Callable[[Any], Any] = (
                tensor_copy if isinstance(leaf, torch.Tensor) else self._object
            )
            self._memo[id(leaf)] = copied(leaf)
        return self._memo[id(leaf)]

    def _object(self, value: Any) -> Any:
        import torch

        if isinstance(value, _objects()) or callable(value):
            return value
        held = [t for _, t in tensors(value)]
        for tensor in held:
            self._leaf(tensor)
        try:
            with torch.inference_mode(any(t.is_inference() for t in held)):
                return copy.deepcopy(value, self._memo)
        except Exception:  # noqa: BLE001  whatever cannot be copied is given again as it is
            return value


def tensor_copy(tensor: Any) -> Any:
    """A tensor of the same values, strides, kind, and need of a gradient, a leaf."""
    import torch

    with torch.inference_mode(tensor.is_inference()), torch.no_grad():
        plain = tensor.detach()
        made = plain.clone()
        if made.layout == torch.strided and made.stride() != plain.stride():
            made = copy.deepcopy(plain)
    needs = tensor.requires_grad and not tensor.is_inference()
    return made.requires_grad_() if needs else made
