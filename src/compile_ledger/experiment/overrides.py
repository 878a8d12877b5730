"""Changes the keyword arguments of ``torch.compile`` for one arm, without an edit.

Only experiments do this; the recorder never does. ``Module.compile`` and both
decorator forms go through the same attribute. ``torch._dynamo.optimize`` called
directly does not, and is left as it is.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

from compile_ledger.observe.settings import settle

from .spec import InPlace

CHEAP_BACKENDS = frozenset(
    {"eager", "eager_noexcept", "aot_eager", "aot_eager_decomp_partition", "aot_ts"}
)
"""Backends that generate no code: an arm runs them as they are."""


_replaced: list[str] = []


def replaced() -> bool:
    """Whether a backend that generates code was replaced in this process."""
    return bool(_replaced)


def is_cheap(backend: Any) -> bool:
    """Whether a ``backend=`` argument names one that generates no code."""
    return isinstance(backend, str) and backend in CHEAP_BACKENDS


def changed_kwargs(
    given: Mapping[str, Any], overrides: Mapping[str, Any], *, cheap_backend: bool
) -> dict[str, Any]:
    """The arguments that the arm uses instead of ``given``.

    A mode or options belong to the backend that they were written for, so they go
    with it.
    """
    kwargs = {**given, **overrides}
    if cheap_backend and not is_cheap(kwargs.get("backend")):
        _replaced.append(str(kwargs.get("backend") or "inductor"))
        kwargs["backend"] = "eager"
        kwargs.pop("mode", None)
        kwargs.pop("options", None)
    return kwargs


Declare = Callable[["dict[str, Any] | None"], None]
"""Told what the program itself gave, before a region is made; None when it is made."""


def install(
    overrides: Mapping[str, Any], declare: Declare, *, cheap_backend: bool, in_place: InPlace = ""
) -> None:
    """Replace ``torch.compile`` in this process; ``in_place``: modules keep their identity."""
    import torch

    original = torch.compile

    @functools.wraps(original)
    def compile(model: Any = None, **given: Any) -> Any:  # noqa: A001  torch's own name
        if model is None:
            return functools.partial(compile, **given)
        settle()
        if in_place and isinstance(model, torch.nn.Module):
            if in_place == "module":
                model.compile(**given)
            else:
                model.forward = compile(model.forward, **given)
            return model
        declare(given)
        try:
            return original(model, **changed_kwargs(given, overrides, cheap_backend=cheap_backend))
        finally:
            declare(None)

    torch.compile = compile


def install_identity() -> None:
    """Make ``torch.compile`` the identity in every form, ``Module.compile()`` included."""
    import torch
    import torch._dynamo

    def compile(model: Any = None, **given: Any) -> Any:  # noqa: A001  torch's own name
        return functools.partial(compile, **given) if model is None else model

    def optimize(*_args: Any, **_given: Any) -> Any:
        return lambda function: function

    def in_place(_self: Any, *_args: Any, **_given: Any) -> None:
        return None

    torch.compile = functools.wraps(torch.compile)(compile)
    torch.nn.Module.compile = in_place
    for name in ("optimize", "optimize_assert"):
        if hasattr(torch._dynamo, name):  # noqa: SLF001
            setattr(torch._dynamo, name, optimize)  # noqa: SLF001
