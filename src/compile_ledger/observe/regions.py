"""H1: regions. Each ``torch.compile`` context gets one more of its own enter hooks.

``OptimizeContext.enter_exit_hooks`` is the runtime's own list of functions that
run before each call of a region; each returns what runs after it. Nothing that
``torch.compile`` returns is wrapped or replaced.
"""

from __future__ import annotations

import functools
import time
import weakref
from typing import TYPE_CHECKING, Any

from compile_ledger.facts.place import Place
from compile_ledger.facts.region import Region, RegionKind

from .call_view import parameter_names
from .capabilities import need
from .own_code import ours
from .session import Session, counted, counter
from .stack import context_of_stack, user_site

if TYPE_CHECKING:
    from collections.abc import Callable

_MARK = "_compile_ledger_region"
_clock = time.perf_counter_ns
_SAMPLE_ALL = 64
_SAMPLE_MASK = 15


class RegionState:
    """One region while its process lives: the fact, the call counter, sampled times."""

    __slots__ = ("_names", "context", "fact", "held", "left", "name", "times", "total")

    def __init__(self, fact: Region) -> None:
        self.fact = fact
        self.left = counter()
        self.times = [0, 0, 0]
        """Sampled calls, their summed wall nanoseconds, the longest."""
        self.total = 0
        self.context: Any = None
        """A weak reference to the runtime's context of this region."""
        self.held: Any = None
        self.name = ""
        self._names: tuple[str, ...] | None = None

    def parameters(self) -> tuple[str, ...]:
        """Names of the target's positional parameters, as guards name them."""
        if self._names is None:
            self._names = parameter_names(self.target())
        return self._names

    def hold(self, fn: Any) -> None:
        """Remember what was compiled, without keeping it alive."""
        owner = getattr(fn, "__self__", None)
        self.name = fn.__name__ if owner is not None else ""
        try:
            self.held = weakref.ref(fn if owner is None else owner)
        except TypeError:
            self.held = None

    def target(self) -> Any:
        """What was compiled, or None when it is gone."""
        found = None if self.held is None else self.held()
        return getattr(type(found), self.name).__get__(found) if found and self.name else found

    @property
    def calls(self) -> int:
        """Calls of the region so far."""
        return counted(self.left)


def install(session: Session) -> None:
    """Hook every region made from now on. Raises ``MissingError`` on a torch without them."""
    from torch._dynamo import eval_frame

    need(eval_frame, "OptimizeContext")
    need(eval_frame, "_TorchDynamoContext")
    _hook_init(session, eval_frame.OptimizeContext)
    _hook_call(session, eval_frame._TorchDynamoContext)  # noqa: SLF001


def _hook_init(session: Session, context_class: Any) -> None:
    original = context_class.__init__

    @functools.wraps(original)
    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        original(self, *args, **kwargs)
        session.contained(_new_region, session, self)

    context_class.__init__ = ours(init)
    session.restore.append(functools.partial(setattr, context_class, "__init__", original))


def _hook_call(session: Session, context_class: Any) -> None:
    original = context_class.__call__

    @functools.wraps(original)
    def call(self: Any, fn: Any) -> Any:
        session.contained(_name_region, session, self, fn)
        return original(self, fn)

    context_class.__call__ = ours(call)
    session.restore.append(functools.partial(setattr, context_class, "__call__", original))


@ours
def _new_region(session: Session, context: Any) -> None:
    hooks = context.enter_exit_hooks
    state = RegionState(
        Region(id=len(session.regions), target="", site=user_site() or session.default_site)
    )
    session.regions.append(state)
    hooks.append(enter_hook(session, state))
    state.context = weakref.ref(context)
    context.__dict__[_MARK] = state


def enter_hook(session: Session, state: RegionState) -> Callable[[], Callable[[], None]]:
    """The function that runs before each call of a region."""
    if session.calls is not None:
        hook: Callable[[], Callable[[], None]] = session.calls.enter_hook(state)
        return ours(hook)
    return ours(_sampling_hook(state))


def _sampling_hook(state: RegionState) -> Callable[[], Any]:
    """Counts every call; times each of the first 64 and one in 16 after them."""
    count = state.left.__next__
    times = state.times

    def enter() -> Any:
        count()
        state.total += 1
        number = state.total
        if number & _SAMPLE_MASK and number > _SAMPLE_ALL:
            return _clock
        began = _clock()

        def leave() -> None:
            took = _clock() - began
            times[0] += 1
            times[1] += took
            times[2] = max(times[2], took)

        return leave

    return enter


@ours
def _name_region(session: Session, context: Any, fn: Any) -> None:
    state = context.__dict__.get(_MARK)
    if state is None or state.fact.target:
        return
    state.hold(fn)
    kind, target = _kind_of(fn)
    state.fact = Region(
        id=state.fact.id,
        target=target,
        kind=kind,
        site=state.fact.site,
        target_place=_defined_at(fn),
        compile_kwargs=_kwargs_of(context),
    )
    session.write_region(state.fact)


def _kind_of(fn: Any) -> tuple[RegionKind, str]:
    import torch

    owner = getattr(fn, "__self__", None)
    if isinstance(fn, torch.nn.Module):
        return "module", type(fn).__qualname__
    if isinstance(owner, torch.nn.Module) and fn.__name__ == "_call_impl":
        return "module.compile", type(owner).__qualname__
    if owner is not None and hasattr(fn, "__name__"):
        return "method", f"{type(owner).__qualname__}.{fn.__name__}"
    if hasattr(fn, "__qualname__"):
        return "function", fn.__qualname__
    return "callable", type(fn).__qualname__


def _defined_at(fn: Any) -> Place | None:
    owner = getattr(fn, "__self__", fn)
    for candidate in (getattr(fn, "__code__", None), _code_of(owner)):
        if candidate is not None and candidate.co_name != "_call_impl":
            return Place(candidate.co_filename, candidate.co_firstlineno, candidate.co_name)
    return None


def _code_of(owner: Any) -> Any:
    return getattr(getattr(type(owner), "forward", None), "__code__", None)


def _kwargs_of(context: Any) -> dict[str, str]:
    """The keyword arguments of the ``torch.compile`` call that differ from its defaults."""
    given: dict[str, str] = {}
    if context._dynamic is not None:  # noqa: SLF001
        given["dynamic"] = repr(context._dynamic)  # noqa: SLF001
    if getattr(context, "fullgraph", False):
        given["fullgraph"] = "True"
    if getattr(context, "_isolate_recompiles_id", -1) != -1:
        given["isolate_recompiles"] = "True"
    given.update(_backend_of(context.callback))
    return given


def _backend_of(callback: Any) -> dict[str, str]:
    from torch._dynamo.eval_frame import innermost_backend

    backend = innermost_backend(callback)
    name = getattr(backend, "compiler_name", None) or getattr(backend, "__name__", "")
    found = {} if name in ("", "inductor") else {"backend": repr(str(name))}
    extra = getattr(backend, "kwargs", None) or {}
    return found | {key: repr(value) for key, value in sorted(extra.items())}


def region_of_stack() -> RegionState | None:
    """The region under which the present frame is being compiled, if any."""
    context = context_of_stack()
    return None if context is None else getattr(context, "__dict__", {}).get(_MARK)
