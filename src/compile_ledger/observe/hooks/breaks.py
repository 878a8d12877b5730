"""Turns the runtime's account of a graph break into a fact."""

from __future__ import annotations

from typing import Any

from compile_ledger.facts.graph_break import GraphBreak
from compile_ledger.facts.place import Place
from compile_ledger.observe.stack import is_program, is_written


def as_break(text: str, stack: Any, caller: Place | None = None) -> GraphBreak:
    """A break from the runtime's text and stack (frame summaries or places).

    Leaves torch's lines out, where there are others. ``caller`` is the user's line that
    led to the frame: it comes first where the stack has no line of the user's own.
    """
    places = [_place(frame) for frame in stack or ()]
    users = [place for place in places if is_written(place.file)]
    if caller is not None and not any(is_program(place.file) for place in users):
        users = [caller, *users]
    first, _, rest = text.strip().partition("\n")
    return GraphBreak(
        reason=first[:400],
        stack=tuple(users or places)[-20:],
        hint_id=_hint_id(first),
        explanation=rest.strip()[:2000],
    )


def _hint_id(kind: str) -> str:
    """Torch's number for a kind of break, where this torch has the register."""
    from torch._dynamo import exc

    load = getattr(exc, "_load_gb_type_to_gb_id_map", None)
    return "" if load is None else str(load().get(kind, ""))


def _place(frame: Any) -> Place:
    return (
        frame if isinstance(frame, Place) else Place(frame.filename, frame.lineno or 0, frame.name)
    )
