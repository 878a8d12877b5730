"""A workload: a callable, the calls that are typical of it, and how it is compiled."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Mapping, Sized
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, cast

AroundCall = Callable[[int, Any], AbstractContextManager[Any]]


class WorkloadError(ValueError):
    """The object is no workload: one line that says what is wrong and what is wanted."""


@dataclass(repr=False)
class Workload:
    """What an audit runs.

    ``fn`` is a function or an ``nn.Module``, compiled already or not. ``calls`` is an
    iterable (or a function that returns one) of calls; a call is ``(args, kwargs)``, a
    tuple of positional arguments, or one single argument. ``compile`` holds the keyword
    arguments of ``torch.compile``; where ``fn`` is compiled already, its own are used
    unless these are given. ``setup`` runs once before the calls. ``rtol``/``atol`` is the
    agreement that you state (default 1e-4 each). ``horizon`` is how many calls the
    workload will serve before it restarts. ``around_call(i, target)`` is a context
    manager entered around call ``i``; ``state()`` returns what else counts as output.
    """

    fn: Callable[..., Any]
    calls: Iterable[Any] | Callable[[], Iterable[Any]]
    compile: Mapping[str, Any] = field(default_factory=dict)
    setup: Callable[[], Any] | None = None
    rtol: float | None = None
    atol: float | None = None
    horizon: int | None = None
    around_call: AroundCall | None = None
    state: Callable[[], Any] | None = None

    def __repr__(self) -> str:
        """One line: no weights, no tensors."""
        name = getattr(self.fn, "__qualname__", type(self.fn).__qualname__)
        given: Any = self.calls
        calls = f"{len(given)} calls" if isinstance(given, Sized) else "calls"
        return f"<Workload of {name}: {calls}, compile={dict(self.compile)!r}>"

    def __post_init__(self) -> None:
        """Refuse what cannot be audited. Raises :class:`WorkloadError`."""
        fn, calls = cast("Any", self.fn), cast("Any", self.calls)
        if not callable(fn):
            msg = f"Workload.fn must be callable, not {type(fn).__name__}"
            raise WorkloadError(msg)
        if not isinstance(calls, Iterable) and not callable(calls):
            msg = f"Workload.calls must be an iterable of calls, not {type(calls).__name__}"
            raise WorkloadError(msg)

    def each_call(self) -> Iterable[tuple[tuple[Any, ...], dict[str, Any]]]:
        """The calls as ``(args, kwargs)``. Raises :class:`WorkloadError` for a wrong one."""
        calls = self.calls() if callable(self.calls) else self.calls
        for number, call in enumerate(calls):
            yield as_call(call, number)

    def around(self, index: int, target: Any) -> AbstractContextManager[Any]:
        """The context of call ``index``; an empty one when none was given."""
        if self.around_call is None:
            return contextlib.nullcontext()
        return self.around_call(index, target)


def as_call(call: Any, number: int) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """``(args, kwargs)`` from any of the forms that a call may have."""
    if not isinstance(call, tuple):
        return (call,), {}
    if len(call) == 2 and isinstance(call[0], (tuple, list)) and isinstance(call[1], dict):  # noqa: PLR2004
        if not all(isinstance(key, str) for key in call[1]):
            msg = f"call {number}: its keyword arguments must have string names"
            raise WorkloadError(msg)
        return tuple(call[0]), call[1]
    return call, {}


def from_module(value: Any, module: Any) -> Workload | None:
    """A workload from what a target named, with the module's own settings around it.

    ``(fn, calls)`` takes ``COMPILE_KWARGS``, ``around_call`` and ``state`` from the
    module. None when ``value`` is neither a workload nor such a pair.
    """
    if isinstance(value, Workload):
        return value
    if not (isinstance(value, tuple) and len(value) == 2 and callable(value[0])):  # noqa: PLR2004
        return None
    if not isinstance(value[1], Iterable) and not callable(value[1]):
        return None
    return Workload(
        fn=value[0],
        calls=value[1],
        compile=getattr(module, "COMPILE_KWARGS", {}),
        around_call=getattr(module, "around_call", None),
        state=getattr(module, "state", None),
    )
