"""What one call had before it and left after it: inputs, state, outputs, mutations."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .fingerprint import random_hashes, reachable_modules, state_hash, value_hash
from .held import held_leaves, held_values
from .leaves import Leaf, leaves, tensors


@dataclass
class Before:
    """A call before it ran: hashes of all that it can read, versions of what it can change."""

    inputs: str = ""
    state: str = ""
    random: dict[str, str] = field(default_factory=dict)
    watched: list[tuple[str, Any, Any]] = field(default_factory=list)
    """Path, tensor, and the tensor's version before the call."""
    modules: list[Any] = field(default_factory=list)
    held: dict[str, Any] = field(default_factory=dict)
    """Changeable things that the code refers to, by name."""
    texts: dict[str, str] = field(default_factory=dict)
    """What they held besides tensors."""
    held_tensors: str = ""

    def fingerprint(self) -> dict[str, str]:
        """The hashes, by what they are of."""
        held = {"tensors that it holds": self.held_tensors}
        return {"inputs": self.inputs, "parameters": self.state, **held, **self.random}


def before_call(target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Before:
    """Hash what a call will read; note the versions of what it may change."""
    import torch

    given = [*args, *kwargs.values()]
    modules = [*reachable_modules(target), *(x for x in given if isinstance(x, torch.nn.Module))]
    snapshot = Before(
        inputs=value_hash((args, kwargs)),
        state=state_hash(modules),
        random=random_hashes(),
        modules=modules,
    )
    named = tensors(args, "mutated args") + tensors(kwargs, "mutated kwargs")
    named += [(f"state {n}", t) for n, t in _module_tensors(modules)]
    named += _watch_held(snapshot, target)
    snapshot.watched = [(path, tensor, _version(tensor)) for path, tensor in named]
    return snapshot


def _watch_held(snapshot: Before, target: Any) -> list[tuple[str, Any]]:
    """Note what a target holds; returns the tensors among it."""
    snapshot.held = held_values(target)
    found = held_leaves(snapshot.held)
    snapshot.texts = {path: leaf for path, leaf in found if isinstance(leaf, str)}
    kept = [(path, leaf) for path, leaf in found if not isinstance(leaf, str)]
    snapshot.held_tensors = value_hash(kept)
    return kept


def _module_tensors(modules: list[Any]) -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    for module in modules:
        found += [*module.named_parameters(), *module.named_buffers()]
        found += [
            (f"grad of {name}", parameter.grad)
            for name, parameter in module.named_parameters()
            if parameter.grad is not None
        ]
    return found


def _version(tensor: Any) -> int | None:
    """The tensor's version counter; None for inference tensors, which keep none."""
    try:
        return int(tensor._version)  # noqa: SLF001
    except RuntimeError:
        return None


def after_call(before: Before, result: Any) -> dict[str, Any]:
    """The call's outputs and mutations: ``tensors`` (copies) and ``texts``, by path."""
    import torch

    found = leaves(result)
    changed = [(path, t) for path, t, version in before.watched if _version(t) != version]
    known = {id(tensor) for _, tensor, _ in before.watched}
    held = held_leaves(before.held)
    changed += [(p, t) for p, t in held if not isinstance(t, str) and id(t) not in known]
    changed += [(f"state {n}", t) for n, t in _module_tensors(before.modules) if id(t) not in known]
    copies = {p: copied(t) for p, t in [*found, *changed] if isinstance(t, torch.Tensor)}
    return {
        "tensors": copies,
        "texts": {p: leaf for p, leaf in found if isinstance(leaf, str)} | _changed(before, held),
        "random_used": _drawn_from(before.random),
        "differentiable": any(t.requires_grad for _, t in found if isinstance(t, torch.Tensor)),
    }


def _changed(before: Before, held: list[Leaf]) -> dict[str, str]:
    """The texts of what a target holds that the call changed, added or took away."""
    now = {path: leaf for path, leaf in held if isinstance(leaf, str)}
    gone = {path: "taken away" for path in before.texts if path not in now}
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
