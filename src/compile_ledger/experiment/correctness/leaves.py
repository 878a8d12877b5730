"""Flattens a value into named leaves: tensors, and texts for everything else."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

_SCALARS = (bool, int, float, complex, str, bytes, type(None))
_DEEPEST = 8
_DEEPEST_OBJECT = 3

Leaf = tuple[str, Any]
"""A path and a tensor, or a path and a text."""


def leaves(value: Any, path: str = "out") -> list[Leaf]:
    """Every leaf of ``value``; cycles and depths past 8 end as a text."""
    return list(_walk(value, path, 0, frozenset()))


def _walk(value: Any, path: str, depth: int, above: frozenset[int]) -> Iterator[Leaf]:
    import torch

    if isinstance(value, torch.Tensor):
        yield path, value
    elif isinstance(value, _SCALARS):
        yield path, f"{type(value).__name__} {value!r}"[:500]
    elif depth > _DEEPEST or id(value) in above:
        yield path, f"<{type(value).__name__}, not followed>"
    else:
        yield from _walk_container(value, path, depth + 1, above | {id(value)})


def _walk_container(value: Any, path: str, depth: int, above: frozenset[int]) -> Iterator[Leaf]:
    import torch

    kind = f"{type(value).__module__}.{type(value).__qualname__}"
    if isinstance(value, (torch.dtype, torch.device, torch.layout)):
        yield path, f"{kind} {value}"
        return
    if _is_array(value):
        yield f"{path} (ndarray)", torch.from_numpy(value.copy())
        return
    yield f"{path} (type)", kind
    if isinstance(value, torch.nn.Module):
        return
    for name, part in _parts(value, depth):
        yield from _walk(part, f"{path}{name}", depth, above)


def _key(at: int, key: Any) -> str:
    """A plain key as it is; any other by its place: its ``repr`` may hold an address."""
    return f"[{key!r}]" if isinstance(key, _SCALARS) else f"[key {at}]"


def _is_array(value: Any) -> bool:
    kind = type(value)
    plain = kind.__module__ == "numpy" and kind.__name__ == "ndarray"
    return plain and value.dtype.kind in "biufc"


def _parts(value: Any, depth: int) -> Iterator[tuple[str, Any]]:
    """The named parts of a container or of a plain object."""
    if isinstance(value, Mapping):
        yield from ((_key(at, key), value[key]) for at, key in enumerate(value))
    elif dataclasses.is_dataclass(value):
        names = (field.name for field in dataclasses.fields(value))
        yield from ((f".{name}", getattr(value, name, None)) for name in names)
    elif isinstance(value, (list, tuple)):
        yield from ((f"[{index}]", part) for index, part in enumerate(value))
    elif isinstance(value, (set, frozenset)):
        yield from ((f"{{{part!r}}}", part) for part in sorted(value, key=repr))
    elif hasattr(value, "__dict__") and not callable(value) and depth <= _DEEPEST_OBJECT:
        yield from ((f".{name}", part) for name, part in sorted(vars(value).items()))


def tensors(value: Any, path: str = "args") -> list[tuple[str, Any]]:
    """Only the tensor leaves of ``value``."""
    import torch

    return [(p, leaf) for p, leaf in leaves(value, path) if isinstance(leaf, torch.Tensor)]
