"""Compares one tensor with what a guard assumes of it, axis by axis."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from compile_ledger.facts.guard import TensorAssumption
from compile_ledger.facts.tensor_spec import TensorSpec

Difference = tuple[str, str, str]
"""Aspect, expected, actual."""

_KEYS = {"cpu": "CPU", "cuda": "CUDA", "meta": "Meta", "xpu": "XPU", "mps": "MPS", "hpu": "HPU"}


@dataclass(frozen=True, slots=True)
class Seen:
    """What guards ask of a tensor, read from a real one or from a description."""

    type: str
    dispatch_keys: frozenset[str]
    dtype: str
    device_index: int | None
    requires_grad: bool
    size: tuple[int, ...] | None
    """None where the layout has no sizes that guards compare."""
    stride: tuple[int, ...]


def of_spec(spec: TensorSpec) -> Seen:
    """A described tensor, as a dense one of its device would be."""
    kind = spec.device.partition(":")[0]
    key = _KEYS.get(kind, kind)
    keys = frozenset({key, "BackendSelect", "ADInplaceOrView", f"Autograd{key}"})
    return Seen(
        type="Tensor",
        dispatch_keys=keys,
        dtype=spec.dtype,
        device_index=spec.device_index,
        requires_grad=spec.requires_grad,
        size=tuple(spec.size),
        stride=tuple(spec.stride or ()),
    )


def of_tensor(tensor: Any) -> Seen:
    """A real tensor, under the modes that hold now."""
    import torch

    dense = tensor.layout == torch.strided
    return Seen(
        type=type(tensor).__name__,
        dispatch_keys=_keys_now(tensor),
        dtype=str(tensor.dtype),
        device_index=tensor.device.index,
        requires_grad=tensor.requires_grad,
        size=tuple(tensor.size()) if dense else None,
        stride=tuple(tensor.stride()) if dense else (),
    )


def _keys_now(tensor: Any) -> frozenset[str]:
    import torch

    core = torch._C  # noqa: SLF001  the public API does not show dispatch keys
    keys = core._dispatch_keys(tensor)  # noqa: SLF001
    if hasattr(core, "_dispatch_tls_local_include_set"):
        included = core._dispatch_tls_local_include_set()  # noqa: SLF001
        keys = (keys | included) - core._dispatch_tls_local_exclude_set()  # noqa: SLF001
    inside = str(keys).partition("(")[2].removesuffix(")")
    return frozenset(inside.split(", "))


def differences(assumed: TensorAssumption, seen: Seen) -> Iterator[Difference]:
    """Every axis on which they differ."""
    yield from _of_kind(assumed, seen)
    if seen.size is None:
        return
    if len(assumed.size) != len(seen.size):
        yield "rank", str(len(assumed.size)), str(len(seen.size))
        return
    yield from _of_axes("size", assumed.size, seen.size)
    yield from _of_axes("stride", assumed.stride, seen.stride)


def _of_kind(assumed: TensorAssumption, seen: Seen) -> Iterator[Difference]:
    kind = assumed.type.rpartition(".")[2]
    if kind != seen.type:
        yield "type", kind, seen.type
    wanted = frozenset(assumed.dispatch_keys)
    if wanted != seen.dispatch_keys:
        yield "dispatch keys", _keys(wanted, seen), _keys(seen.dispatch_keys, assumed)
    for aspect, expected, actual in (
        ("dtype", assumed.dtype, seen.dtype),
        ("device index", assumed.device_index, seen.device_index),
        ("requires_grad", assumed.requires_grad, seen.requires_grad),
    ):
        if expected != actual:
            yield aspect, str(expected), str(actual)


def _keys(mine: frozenset[str], other: Any) -> str:
    """The keys that only one side has."""
    only = mine - frozenset(other.dispatch_keys)
    return ", ".join(sorted(only)) or "no more"


def _of_axes(name: str, assumed: Sequence[int | None], seen: Sequence[int]) -> Iterator[Difference]:
    for axis, (expected, actual) in enumerate(zip(assumed, seen, strict=True)):
        if expected is not None and expected != actual:
            yield f"{name}[{axis}]", str(expected), str(actual)
