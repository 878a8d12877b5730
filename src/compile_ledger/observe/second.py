"""The same region compiled a second time, beside the first, in one process.

Entries hang on code objects, so two compilations of one function share a line unless
something keeps them apart: a backend object of its own, which the runtime compares at
each lookup, and, where this torch has them, entries of its own
(``isolate_recompiles``). The latter also keep a frame that the first compilation
skipped apart from the second.
"""

from __future__ import annotations

from typing import Any

from .capabilities import MissingError, need
from .hooks.regions import backend_inside
from .recording.session import Session


def second_context(context: Any) -> Any:
    """A context like ``context``, whose compilations have entries of their own.

    Raises :class:`MissingError` on a torch that does not let us make one.
    """
    import torch

    inner = backend_inside(context.callback)
    if not callable(inner):
        msg = "the region's backend was not found"
        raise MissingError(msg)

    def again(graph: Any, inputs: Any) -> Any:
        return inner(graph, inputs)

    isolated = {"isolate_recompiles": True} if isolates(context) else {}
    optimize = getattr(torch._dynamo, need(torch._dynamo, "optimize"))  # noqa: SLF001
    return optimize(again, dynamic=context._dynamic, **isolated)  # noqa: SLF001


def isolates(context: Any) -> bool:
    """Whether this torch can give a region entries of its own."""
    return hasattr(context, "_isolate_recompiles_id")


def forget_skips(session: Session) -> int:
    """Let Dynamo look again at code that it skips for good and that never had an entry.

    Returns how many there were. The next call without a change is skipped again.
    """
    from torch._dynamo import eval_frame

    need(eval_frame, "reset_code")
    had = {entry.code_object for entry in session.entries}
    codes = [
        state.code()
        for state in session.codes.values()
        if state.fact.id not in had and any(stop.state == "off" for stop in state.stopped.values())
    ]
    for code in codes:
        if code is not None:
            eval_frame.reset_code(code)
    return len(codes)


def graph_runs(session: Session) -> int:
    """Graph executions so far, over all entries."""
    return sum(entry.runs for entry in session.entries if entry.has_graph)
