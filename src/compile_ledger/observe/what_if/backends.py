"""Whether an entry was made by the backend of the region that asks."""

from __future__ import annotations

from typing import Any

from compile_ledger.facts.guard import Refusal


def backend_refusal(entry: Any, context: Any) -> Refusal | None:
    """The refusal of an entry of another backend; None: the same, or not to be told.

    The runtime compares the backends themselves, before any guard.
    """
    theirs = getattr(entry, "backend", None)
    ours = None if context is None else _backend_of(context)
    if theirs is None or ours is None or theirs is ours or _equal(theirs, ours):
        return None
    return Refusal("", "BACKEND_MATCH", "backend", _named(theirs), _named(ours))


def _backend_of(context: Any) -> Any:
    from torch._dynamo import eval_frame

    innermost = getattr(eval_frame, "innermost_backend", None)
    callback = getattr(context, "callback", None)
    return None if innermost is None or not callable(callback) else innermost(callback)


def _equal(theirs: Any, ours: Any) -> bool:
    return bool(theirs == ours)


def _named(backend: Any) -> str:
    name = getattr(backend, "compiler_name", None) or getattr(backend, "__name__", None)
    return f"{name or type(backend).__name__} at {id(backend):#x}"
