"""What a call in progress was given and returned, read from the runtime's own frame."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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


def shows_results() -> bool:
    """Whether this torch's wrapper keeps a call's result where it can be read."""
    import torch

    code = getattr(torch.compile(_probe, backend="eager"), "__code__", None)
    return code is not None and "result" in code.co_varnames


def _probe(value: Any) -> Any:
    return value
