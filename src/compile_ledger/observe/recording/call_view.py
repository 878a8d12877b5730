"""What a call in progress was given and returned, read from the runtime's own frame."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Any

from .session import is_library

if TYPE_CHECKING:
    from types import FrameType

NOTHING = object()
"""The result of a call that returned nothing yet, or on a torch that keeps no result."""


def arguments(frame: FrameType | None) -> tuple[tuple[Any, ...], dict[str, Any]] | None:
    """The call's ``(args, kwargs)``; None where this torch's wrapper does not show them."""
    if frame is None:
        return None
    local = frame.f_locals
    if "args" not in local or "kwargs" not in local:
        return None
    return local["args"], local["kwargs"]


def result(frame: FrameType | None) -> Any:
    """What the call returned, or :data:`NOTHING`."""
    return NOTHING if frame is None else frame.f_locals.get("result", NOTHING)


_MOST_SIZES = 32


def parameter_names(target: Any) -> tuple[str, ...]:
    """The positional parameters of what was compiled, ``self`` left out.

    None for torch's own modules, which compile through a shim whose names are ``args``.
    """
    owner = getattr(target, "__self__", None)
    function = target if hasattr(target, "__code__") else getattr(type(target), "forward", None)
    code = getattr(getattr(function, "__func__", function), "__code__", None)
    if code is None or is_library(code.co_filename):
        return ()
    names: tuple[str, ...] = code.co_varnames[: code.co_argcount]
    bound = owner is not None or function is not target
    return names[1:] if bound and names else names


_CONSTANTS = (bool, int, float, str, type(None), enum.Enum)
_LONGEST = 100

Brought = tuple[dict[str, tuple[int, ...]], dict[str, str], tuple[str, ...]]
"""Sizes of tensors and reprs of constants by parameter name; tensors that overlap."""


def brought(frame: FrameType | None, names: tuple[str, ...]) -> Brought:
    """The sizes of the tensors and the constants among a call's arguments.

    Arguments beyond the named ones are ``args[i]``, as the runtime's own shim names them.
    """
    import torch

    given = arguments(frame)
    if given is None:
        return {}, {}, ()
    padded = [*names, *(f"args[{i}]" for i in range(len(names), len(given[0])))]
    found = [*zip(padded, given[0], strict=False), *given[1].items()][:_MOST_SIZES]
    tensors = [(name, v) for name, v in found if isinstance(v, torch.Tensor)]
    sizes = {name: tuple(v.shape) for name, v in tensors}
    constants = {n: _shown(v)[:_LONGEST] for n, v in found if isinstance(v, _CONSTANTS)}
    return sizes, constants, _overlapping(tensors)


def _overlapping(tensors: list[tuple[str, Any]]) -> tuple[str, ...]:
    """The names of tensors whose range of memory another one's begins or ends in."""
    spans = [(name, span) for name, tensor in tensors if (span := _span(tensor))]
    return tuple(
        name
        for name, (start, end) in spans
        if any(o != name and s < end and start < e for o, (s, e) in spans)
    )


def _span(tensor: Any) -> tuple[int, int] | None:
    """The addresses from the first to behind the last byte; None: it has none of its own."""
    try:
        start = tensor.data_ptr()
        steps = (
            (size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True)
        )
        end = start + (sum(steps) + 1) * tensor.element_size()
    except (RuntimeError, NotImplementedError, TypeError):
        return None  # Fake, sparse and wrapped tensors have no address.
    return (start, end) if start and tensor.numel() else None


def _shown(value: Any) -> str:
    """The ``repr`` of a constant; of an enum's member its name, ``Mode.FAST``."""
    return f"{type(value).__name__}.{value.name}" if isinstance(value, enum.Enum) else repr(value)
