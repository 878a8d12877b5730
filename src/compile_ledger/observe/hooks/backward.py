"""Around each backward pass: ``backward()`` and ``autograd.grad`` both enter one function.

For arms of an audit only. No tensor gets a hook here, so no guard and no graph
changes; the engine itself is entered as before.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .own_code import ours

_NAME = "_engine_run_backward"


@dataclass(frozen=True)
class BackwardPass:
    """One backward pass that is about to run."""

    roots: tuple[Any, ...]
    """The tensors, or gradient edges, that it starts from."""
    inputs: tuple[Any, ...]
    """What its gradients are asked of; empty: of every leaf."""
    retains: bool
    """Whether the graph is kept for another pass."""
    compiled: bool
    """Whether it is compiled as well (compiled autograd)."""


End = Callable[[Any], None]
Begin = Callable[[BackwardPass], "End | None"]
"""Called before a pass; what it returns is called with the engine's result after it."""


def around_backward(begin: Begin) -> bool:
    """Call ``begin`` around every backward pass; False where this torch has no such place.

    ``begin`` and what it returns may not raise.
    """
    import torch

    engine = getattr(torch.autograd, _NAME, None)
    if engine is None or not hasattr(torch.autograd.graph, _NAME):
        return False

    def run_backward(roots: Any, *args: Any, **kwargs: Any) -> Any:
        end = begin(_described(roots, args, kwargs))
        value = engine(roots, *args, **kwargs)
        if end is not None:
            end(value)
        return value

    ours(run_backward)
    for module in (torch.autograd, torch.autograd.graph):
        setattr(module, _NAME, run_backward)
    return True


_RETAINS, _INPUTS = 1, 3
"""Where the engine's arguments have them, the roots left out."""


@ours
def _described(roots: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> BackwardPass:
    inputs = args[_INPUTS] if len(args) > _INPUTS else kwargs.get("inputs", ())
    retains = args[_RETAINS] if len(args) > _RETAINS else kwargs.get("keep_graph", False)
    given = (roots,) if not isinstance(roots, (tuple, list)) else tuple(roots)
    return BackwardPass(given, tuple(inputs or ()), bool(retains), _is_compiled())


@ours
def _is_compiled() -> bool:
    """Whether compiled autograd is on; it is not imported to find out."""
    module = sys.modules.get("torch._dynamo.compiled_autograd")
    return bool(getattr(module, "compiled_autograd_enabled", False))
