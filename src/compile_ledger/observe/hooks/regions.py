"""H1: regions. Each ``torch.compile`` context gets one more of its own enter hooks.

``OptimizeContext.enter_exit_hooks`` is the runtime's own list of functions that
run before each call of a region; each returns what runs after it. Nothing that
``torch.compile`` returns is wrapped or replaced.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import time
import weakref
from typing import TYPE_CHECKING, Any

from compile_ledger.facts.place import Place
from compile_ledger.facts.region import Region, RegionKind
from compile_ledger.observe.capabilities import need
from compile_ledger.observe.recording.call_view import parameter_names
from compile_ledger.observe.recording.session import Session, peek
from compile_ledger.observe.settings import recompile_limit
from compile_ledger.observe.stack import lines_here, wrapper_frame

from .call_number import LEAVES, leaves
from .own_code import ours
from .stand_in import hide, stand_in

if TYPE_CHECKING:
    from collections.abc import Callable

_MARK = "compile_ledger_region"
"""The attribute of our enter hook that holds its region: copies of a context share it."""
_clock = time.perf_counter_ns
_SAMPLE_ALL = 64
_SAMPLE_MASK = 63


class RegionState:
    """One region while its process lives: the fact, the call counter, sampled times."""

    __slots__ = (
        "_names",
        "base",
        "bucket",
        "context",
        "fact",
        "first_code",
        "held",
        "name",
        "numbers",
        "root_next",
        "timed_up_to",
        "times",
    )

    def __init__(self, fact: Region) -> None:
        self.fact = fact
        self.numbers = itertools.count()
        """Numbers the calls, in C."""
        self.base = 0
        """Calls before this recording began."""
        self.first_code: int | None = None
        """The code object of its first miss that no rule skipped."""
        self.root_next = True
        """Whether that is the one it enters first: it was seen from its first call on."""
        self.timed_up_to = _SAMPLE_ALL
        self.times = [0, 0, 0]
        """Sampled calls, their summed wall nanoseconds, the longest."""
        self.context: Any = None
        """A weak reference to the runtime's context of this region."""
        self.bucket = -1
        """Its bucket of ``isolate_recompiles``; -1: the shared one."""
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
        """Calls of the region in this recording."""
        return peek(self.numbers) - self.base

    def rebase(self) -> None:
        """Count from now: a fork's child, or a recording that starts again."""
        self.base = peek(self.numbers)
        self.timed_up_to = self.base + _SAMPLE_ALL
        self.times[:] = 0, 0, 0


def install(session: Session) -> None:
    """Hook every region made from now on. Raises ``MissingError`` on a torch without them."""
    from torch._dynamo import eval_frame

    need(eval_frame, "OptimizeContext")
    need(eval_frame, "_TorchDynamoContext")
    _hook_init(session, eval_frame.OptimizeContext)
    _hook_call(session, eval_frame._TorchDynamoContext)  # noqa: SLF001


def _hook_init(session: Session, context_class: Any) -> None:
    original = context_class.__init__

    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        try:
            original(self, *args, **kwargs)
        except BaseException as error:
            hide(error)
            raise
        session.contained(_new_region, session, self)

    stand_in(session, context_class, "__init__", init)


def _hook_call(session: Session, context_class: Any) -> None:
    original = context_class.__call__

    def call(self: Any, fn: Any) -> Any:
        session.contained(_name_region, session, self, fn)
        try:
            return original(self, fn)
        except BaseException as error:
            hide(error)
            raise

    stand_in(session, context_class, "__call__", call)


@ours
def _new_region(session: Session, context: Any) -> None:
    found = lines_here()
    add_region(session, context, found.user or session.default_site, found.library)


def add_region(
    session: Session, context: Any, site: Place | None, library: Place | None = None
) -> RegionState:
    """Number a region and put our enter hook last in its list."""
    number = len(session.regions)
    made = Region(number, "", site=site, library=library, recompile_limit=recompile_limit())
    state = RegionState(made)
    state.context = weakref.ref(context)
    state.bucket = int(getattr(context, "_isolate_recompiles_id", -1))
    session.regions.append(state)
    add_hook(session, state, context)
    return state


def add_hook(session: Session, state: RegionState, context: Any) -> None:
    """Put a region's enter hook last in its context's list."""
    hook = enter_hook(session, state)
    setattr(hook, _MARK, state)
    context.enter_exit_hooks.append(hook)


def remove_hooks(context: Any) -> None:
    """Take our enter hooks out of a region's list."""
    hooks = context.enter_exit_hooks
    hooks[:] = [hook for hook in hooks if not hasattr(hook, _MARK)]


def region_of(context: Any) -> RegionState | None:
    """The region of a runtime's context, by our hook in its list."""
    hooks = getattr(context, "enter_exit_hooks", ())
    return next((getattr(h, _MARK) for h in hooks if hasattr(h, _MARK)), None)


def enter_hook(session: Session, state: RegionState) -> Callable[[], Callable[[], Any]]:
    """The function that runs before each call of a region."""
    if session.calls is not None:
        hook: Callable[[], Callable[[], None]] = session.calls.enter_hook(state)
        return ours(hook)
    if session.timeline is not None:
        keep: Callable[[], Callable[[], Any]] = session.timeline.enter_hook(
            state, functools.partial(_timing, session, state)
        )
        return ours(keep)
    return ours(_sampling_hook(session, state))


def _sampling_hook(session: Session, state: RegionState) -> Callable[[], Callable[[], Any]]:
    """Counts every call; times each of the first 64 and one in 64 after them."""
    count = state.numbers.__next__
    mask = _SAMPLE_MASK
    slots = LEAVES - 1

    def enter() -> Callable[[], Any]:
        number = count()
        if number & mask and number > state.timed_up_to:
            return leaves[number & slots]
        return _timed(session, state, number)

    return enter


@ours
def _timing(session: Session, state: RegionState, number: int) -> Callable[[], Any] | None:
    if number & _SAMPLE_MASK and number > state.timed_up_to:
        return None
    return _timed(session, state, number)


@ours
def _timed(session: Session, state: RegionState, number: int) -> Callable[[], Any]:
    """What ends a call whose wall time is taken."""
    wake = session.wake
    if wake is not None:
        session.contained(wake)
    times = state.times
    stances = session.stances
    frame = wrapper_frame() if stances is not None and stances.name else None
    began = _clock()

    def leave(_number: int = number) -> None:
        took = _clock() - began
        times[0] += 1
        times[1] += took
        times[2] = max(times[2], took)
        if stances is not None and frame is not None:
            session.contained(stances.refused, state, frame)

    return leave


@ours
def _name_region(session: Session, context: Any, fn: Any) -> None:
    state = region_of(context)
    if state is not None and not state.fact.target:
        name_region(session, state, context, fn)


def name_region(session: Session, state: RegionState, context: Any, fn: Any) -> None:
    """Write what a region compiles, once that is known."""
    state.hold(fn)
    kind, target = _kind_of(fn)
    given = _as_given(session)
    state.fact = dataclasses.replace(
        state.fact,
        target=target,
        kind=kind,
        target_place=_defined_at(fn),
        compile_kwargs=_kwargs_of(context) if given is None else given,
    )
    session.write_region(state.fact)
    if session.own_calls is not None:
        session.contained(session.own_calls.watch, state, fn)


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


def _as_given(session: Session) -> dict[str, str] | None:
    """What the program itself gave, where an experiment changes it on the way; else None."""
    given: dict[str, Any] | None = getattr(session.local, "given", None)
    if given is None:
        return None
    return {name: _in_words(value) for name, value in given.items() if value is not None}


def _in_words(value: Any) -> str:
    """An argument's ``repr``; a function by its name, without its address."""
    named = getattr(value, "__name__", None) if callable(value) else None
    return repr(value if named is None else named)[:200]


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
    backend = backend_inside(callback)
    name = getattr(backend, "compiler_name", None) or getattr(backend, "__name__", "")
    found = {} if name in ("", "inductor") else {"backend": repr(str(name))}
    extra = getattr(backend, "kwargs", None) or {}
    return found | {key: repr(value) for key, value in sorted(extra.items())}


def backend_inside(callback: Any) -> Any:
    """The backend inside its wrappers; torch 2.6 names the way to it ``orig_callable``."""
    for name in ("_torchdynamo_orig_backend", "_torchdynamo_orig_callable"):
        while hasattr(callback, name):
            callback = getattr(callback, name)
    return callback
