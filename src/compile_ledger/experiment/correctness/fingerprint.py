"""Content hashes: two calls are compared only where all their inputs are identical."""

from __future__ import annotations

import hashlib
import types
from typing import Any

from compile_ledger.observe.stack import is_users

from .code_names import held_by
from .leaves import leaves

_SIZE = 16


def tensor_hash(tensor: Any) -> str:
    """A hash of a tensor's values, dtype and shape; says so where it cannot be taken.

    SHA-1, because processors have instructions for it: 1.9 GB/s against BLAKE2's 0.8.
    """
    import torch

    try:
        plain = tensor.detach()
        if plain.layout != torch.strided or plain.is_quantized:
            plain = plain.to_dense() if not plain.is_quantized else plain.dequantize()
        plain = plain.resolve_conj().resolve_neg().cpu().contiguous()
        digest = hashlib.sha1(f"{plain.dtype} {tuple(plain.shape)}".encode(), usedforsecurity=False)
        if plain.numel():
            digest.update(plain.reshape(-1).view(torch.uint8).numpy())
        return digest.hexdigest()
    except Exception as error:  # noqa: BLE001  an odd tensor type is not comparable, no more
        return f"unhashable: {type(error).__name__}"


def value_hash(value: Any) -> str:
    """A hash of every leaf of ``value``."""
    import torch

    digest = hashlib.blake2b(digest_size=_SIZE)
    for path, leaf in leaves(value, "in"):
        text = tensor_hash(leaf) if isinstance(leaf, torch.Tensor) else leaf
        digest.update(f"{path}={text}\n".encode("utf-8", "replace"))
    return digest.hexdigest()


def random_hashes() -> dict[str, str]:
    """Hashes of the random number states of torch's CPU, of Python, and of numpy."""
    import random
    import sys

    import torch

    states = {
        "torch random state": torch.get_rng_state().numpy().tobytes(),
        "Python random state": repr(random.getstate()).encode(),
    }
    numpy = sys.modules.get("numpy.random")
    if numpy is not None:
        states["numpy random state"] = repr(numpy.get_state(legacy=False)).encode()
    return {name: hashlib.blake2b(s, digest_size=_SIZE).hexdigest() for name, s in states.items()}


def state_hash(modules: dict[str, Any]) -> str:
    """A hash of the parameters, buffers and training flags of ``modules``."""
    digest = hashlib.blake2b(digest_size=_SIZE)
    for module in modules.values():
        digest.update(str(module.training).encode())
        for name, tensor in [*module.named_parameters(), *module.named_buffers()]:
            digest.update(f"{name}={tensor_hash(tensor)}\n".encode())
    return digest.hexdigest()


def reachable_modules(target: Any) -> dict[str, Any]:
    """The modules that a target holds: itself, its ``self`` and what that has, closure, globals.

    Those of the user's functions that it names are among them. By the name that the
    code has for each, which is empty for the target and its ``self``.
    """
    import torch

    found: dict[str, Any] = {}
    seen: set[int] = set()
    owner = getattr(target, "__self__", None)
    left = [("", target), ("", owner)]
    while left:
        name, value = left.pop(0)
        if id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, torch.nn.Module):
            found[name if name not in found else f"{name}#{len(found)}"] = value
        elif value is owner:
            left += getattr(value, "__dict__", {}).items()
        function = getattr(value, "__func__", value)
        if isinstance(function, types.FunctionType) and is_users(function.__code__.co_filename):
            left += held_by(function)
    return found
