"""What torch's own instruments say of a region: ``explain`` and ``fullgraph=True``.

Both compile it anew, and ``explain`` resets Dynamo: they are asked when everything else
in the process has been counted.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from compile_ledger.facts.opinion import Opinion

from .capabilities import MissingError, need


def opinion(region: int, target: Any, call: Callable[[Any], Any]) -> Opinion:
    """Ask both about one call; ``call(fn)`` makes it with any form of the target."""
    graphs, breaks, why = _explained(target, call)
    passes, said = _whole(target, call)
    return Opinion(region, graphs, breaks, why, passes, said)


def _explained(target: Any, call: Callable[[Any], Any]) -> tuple[int | None, int | None, str]:
    """Graphs and breaks as ``explain`` counts them; else why it does not."""
    import torch

    try:
        explain = getattr(torch._dynamo, need(torch._dynamo, "explain"))  # noqa: SLF001
        found = call(explain(target))
        return int(found.graph_count), int(found.graph_break_count), ""
    except MissingError as error:
        return None, None, str(error)
    except Exception as error:  # noqa: BLE001  whatever it raises is its answer
        return None, None, _first_line(error)


def _whole(target: Any, call: Callable[[Any], Any]) -> tuple[bool, str]:
    """Whether ``fullgraph=True`` compiles and runs the call, and what it says if not."""
    import torch

    torch._dynamo.reset()  # noqa: SLF001
    try:
        call(torch.compile(target, fullgraph=True, backend="eager"))
    except Exception as error:  # noqa: BLE001  whatever it raises is its answer
        return False, _first_line(error)
    return True, ""


def _first_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {(lines or [''])[0][:200]}"
