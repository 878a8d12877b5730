"""Turns the runtime's account of a graph break into a fact."""

from __future__ import annotations

from typing import Any, NamedTuple

from compile_ledger.facts.graph_break import GraphBreak
from compile_ledger.facts.place import Place
from compile_ledger.observe.stack import is_program, is_written

_THEN = "\n\n*** While handling this graph break, another graph break occurred: ***\n\n"
"""What the runtime writes between a break and what followed from it."""


class Unsupported(NamedTuple):
    """What Dynamo could not trace, as it said when it met it: kept as text, not as objects."""

    said: str
    """The first line of the exception that was raised for it."""
    text: str
    """The first cause and what followed from it, each in the runtime's words."""
    stack: tuple[Place, ...]
    """Every line of the stack, torch's too."""
    operator: str
    block: str


def unsupported_of(translator: Any, error: BaseException) -> Unsupported:
    """An exception that ends a graph, with its causes and the block that it is in."""
    causes = [cause for cause in _chain(error) if _is_runtimes(cause)]
    stacks = (getattr(cause, "real_stack", None) for cause in causes)
    return Unsupported(
        said=_first_line(str(error)),
        text=_THEN.join(str(cause) for cause in causes)[:_LONGEST],
        stack=tuple(map(_place, next(filter(None, stacks), ()))),
        operator=str(getattr(error, "_hop_name", None) or ""),
        block=_block(translator, str(error)),
    )


_LONGEST = 6000
_DEEPEST = 8


def _chain(error: BaseException | None) -> list[BaseException]:
    """An exception and what it was raised from, the first cause first."""
    found: list[BaseException] = []
    while error is not None and error not in found and len(found) < _DEEPEST:
        found.insert(0, error)
        error = error.__cause__
    return found


def _is_runtimes(error: BaseException) -> bool:
    """Whether an exception is Dynamo's own account, and not what an operator raised inside."""
    from torch._dynamo.exc import TorchDynamoException

    return isinstance(error, TorchDynamoException)


def _block(translator: Any, text: str) -> str:
    """The innermost block around the break, in its frame or in one that called it."""
    if "graph break in loop" in text:
        return "loop"
    while translator is not None:
        entry = getattr(getattr(translator, "current_instruction", None), "exn_tab_entry", None)
        if entry is not None:
            return _kind_of_block(translator, entry.target)
        translator = getattr(translator, "parent", None)
    return ""


def _kind_of_block(translator: Any, handler: Any) -> str:
    """A ``with`` block's handler calls its ``__exit__``; a ``try`` block's does not."""
    at = translator.indexof[handler]
    begins = [inst.opname for inst in translator.instructions[at : at + 3]]
    return "with" if "WITH_EXCEPT_START" in begins else "try"


def as_break(
    text: str,
    stack: Any,
    caller: Place | None = None,
    met: Unsupported | None = None,
    left: str = "",
) -> GraphBreak:
    """A break from the runtime's text and stack (frame summaries or places).

    Leaves torch's lines out, where there are others. ``caller`` is the user's line that
    led to the frame: it comes first where the stack has no line of the user's own.
    ``met`` is what Dynamo met there, where ``text`` names a consequence only; ``left``
    what it left to Python for it.
    """
    places = [_place(frame) for frame in stack or ()]
    rest_from = places[-1].line if places and left == "rest" else 0
    if met is not None:
        text, places = met.text, list(met.stack) or places
    users = [place for place in places if is_written(place.file)]
    if caller is not None and not any(is_program(place.file) for place in users):
        users = [caller, *users]
    first, _, rest = text.strip().partition("\n")
    return GraphBreak(
        reason=first[:400],
        stack=tuple(users or places)[-20:],
        hint_id=_hint_id(first),
        explanation=rest.strip()[:2000],
        operator=met.operator if met else "",
        block=met.block if met and left else "",
        left=left,
        rest_from=rest_from,
    )


def _first_line(text: str) -> str:
    return text.strip().partition("\n")[0]


def _hint_id(kind: str) -> str:
    """Torch's number for a kind of break, where this torch has the register."""
    from torch._dynamo import exc

    load = getattr(exc, "_load_gb_type_to_gb_id_map", None)
    return "" if load is None else str(load().get(kind, ""))


def _place(frame: Any) -> Place:
    return (
        frame if isinstance(frame, Place) else Place(frame.filename, frame.lineno or 0, frame.name)
    )
