"""What one call had before it and left after it: inputs, state, outputs, mutations."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .fingerprint import random_hashes, reachable_modules, state_hash, tensor_hash, value_hash
from .held import held_leaves, held_values
from .leaves import Leaf, leaves, tensors


@dataclass
class Before:
    """A call before it ran: hashes of all that it can read, copies of what it can change."""

    inputs: str = ""
    state: str = ""
    random: dict[str, str] = field(default_factory=dict)
    given: list[Leaf] = field(default_factory=list)
    """The tensors among its arguments, by path."""
    copies: dict[str, Any] = field(default_factory=dict)
    """The tensors that it can change as they were, by path."""
    modules: dict[str, Any] = field(default_factory=dict)
    owners: list[tuple[str, Any]] = field(default_factory=list)
    """Objects whose attributes are watched, by name."""
    held: dict[str, Any] = field(default_factory=dict)
    """Changeable things that the code refers to, by name."""
    texts: dict[str, str] = field(default_factory=dict)
    """What they held besides tensors."""
    held_tensors: str = ""

    def fingerprint(self) -> dict[str, str]:
        """The hashes, by what they are of."""
        held = {"tensors that it holds": self.held_tensors}
        return {"inputs": self.inputs, "parameters": self.state, **held, **self.random}

    def before(self) -> dict[str, Any]:
        """Everything that the call could change, as it was, by path."""
        return {**self.texts, **self.copies}


def before_call(target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Before:
    """Hash what a call will read, and copy what it may change.

    Copies, not version counters, tell what changed: eager BatchNorm and writes through
    ``.data`` raise no counter, and one that rose says nothing of values.
    """
    snapshot = _watching(target, args, kwargs)
    snapshot.inputs = value_hash((args, kwargs))
    snapshot.state = state_hash(snapshot.modules)
    snapshot.random = random_hashes()
    held = held_leaves(_held_now(snapshot))
    snapshot.texts = {path: leaf for path, leaf in held if isinstance(leaf, str)}
    snapshot.held_tensors = value_hash([pair for pair in held if not isinstance(pair[1], str)])
    snapshot.copies = {path: copied(t) for path, t in _changeable(snapshot, held).items()}
    return snapshot


def _watching(target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Before:
    """What a call could change; no value of it is looked at."""
    import torch

    modules = reachable_modules(target)
    given = {f"args[{i}]": x for i, x in enumerate(args)} | kwargs
    modules |= {name: x for name, x in given.items() if isinstance(x, torch.nn.Module)}
    return Before(
        given=tensors(args, "mutated args") + tensors(kwargs, "mutated kwargs"),
        modules=modules,
        owners=_owners(target, modules),
        held=held_values(target),
    )


def changeable(target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """The tensors that a call can read and change, as they are now, by path; each once."""
    snapshot = _watching(target, args, kwargs)
    return _changeable(snapshot, held_leaves(_held_now(snapshot)))


def _changeable(before: Before, held: list[Leaf]) -> dict[str, Any]:
    """The tensors that a call can change, as they are now, by path; each once."""
    found = [*before.given, *_module_tensors(before.modules)]
    found += [(path, leaf) for path, leaf in held if not isinstance(leaf, str)]
    seen: dict[int, str] = {}
    return {path: t for path, t in found if seen.setdefault(id(t), path) == path}


def _module_tensors(modules: dict[str, Any]) -> list[tuple[str, Any]]:
    """Parameters, buffers and gradients, under the module's name where there are several."""
    found: list[tuple[str, Any]] = []
    for prefix, module in modules.items():
        path = f"{prefix}." if prefix and len(modules) > 1 else ""
        parameters = list(module.named_parameters())
        found += [(f"state {path}{n}", t) for n, t in (*parameters, *module.named_buffers())]
        found += [(f"state grad of {path}{n}", p.grad) for n, p in parameters if p.grad is not None]
    return found


_ATTRIBUTES = (bool, int, float, str, list, dict, set)


def _owners(target: Any, modules: dict[str, Any]) -> list[tuple[str, Any]]:
    """The objects whose attributes are watched: modules, those in them, a method's ``self``."""
    found = [pair for prefix, one in modules.items() for pair in one.named_modules(prefix=prefix)]
    owner = getattr(target, "__self__", None)
    known = owner is None or any(owner is one for _, one in found)
    return found if known else [*found, ("", owner)]


def _attributes(owners: list[tuple[str, Any]]) -> dict[str, Any]:
    """Plain attributes, private ones left out: counters, caches, histories."""
    import torch

    return {
        f"{name}.{key}" if name else key: value
        for name, owner in owners
        for key, value in getattr(owner, "__dict__", {}).items()
        if not key.startswith("_") and key != "training"
        if isinstance(value, (*_ATTRIBUTES, torch.Tensor))
    }


def after_call(before: Before, result: Any) -> dict[str, Any]:
    """The call's outputs and mutations: ``tensors`` (copies) and ``texts``, by path."""
    import torch

    found = leaves(result)
    held = held_leaves(_held_now(before))
    now = _changeable(before, held)
    changed = [(p, t) for p, t in now.items() if not _same(before.copies.get(p), t)]
    gone = {path: GONE for path in before.copies if path not in now}
    copies = {p: copied(t) for p, t in [*found, *changed] if isinstance(t, torch.Tensor)}
    texts = {p: leaf for p, leaf in found if isinstance(leaf, str)}
    return {
        "tensors": copies,
        "texts": texts | gone | _changed(before, held),
        "random_used": _drawn_from(before.random),
        "differentiable": any(t.requires_grad for _, t in found if isinstance(t, torch.Tensor)),
    }


def _held_now(before: Before) -> dict[str, Any]:
    """What is held now: attributes may have been assigned anew."""
    return before.held | _attributes(before.owners)


def _same(old: Any, tensor: Any) -> bool:
    """Whether a tensor has the values, bit for bit, of the copy that was taken of it."""
    import torch

    if old is None or old.shape != tensor.shape or old.dtype != tensor.dtype:
        return False
    new = tensor.detach()
    try:
        new = new.cpu()
        whole = _WHOLE.get(old.element_size()) if old.is_floating_point() else None
        if whole is None:
            return bool(torch.equal(old, new))
        kind = getattr(torch, whole)
        return bool(torch.equal(old.view(kind), new.view(kind)))
    except (RuntimeError, NotImplementedError, TypeError):
        return tensor_hash(old) == tensor_hash(tensor)


_WHOLE = {1: "uint8", 2: "int16", 4: "int32", 8: "int64"}
"""Integers of a float's size: as such, NaN equals NaN."""

GONE = "taken away"
"""The text of what was there before a call, and is not after it."""


def _changed(before: Before, held: list[Leaf]) -> dict[str, str]:
    """The texts of what a target holds that the call changed, added or took away."""
    now = {path: leaf for path, leaf in held if isinstance(leaf, str)}
    gone = {path: GONE for path in before.texts if path not in now}
    return gone | {p: text for p, text in now.items() if before.texts.get(p) != text}


def _drawn_from(before: dict[str, str]) -> list[str]:
    """Which random states the call moved."""
    return [name for name, now in random_hashes().items() if before.get(name, now) != now]


def copied(tensor: Any) -> Any:
    """A plain CPU copy of a tensor, with its strides where they can be kept."""
    import torch

    plain = tensor.detach()
    if type(plain) is not torch.Tensor:
        plain = plain.as_subclass(torch.Tensor)
    return plain.cpu().clone()
