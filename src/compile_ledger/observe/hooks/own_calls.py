"""Calls of what regions compile, by way of the region and round it.

For arms that run eagerly only: the function's ``__code__`` is exchanged for one that
hands its arguments on to a copy of the function, which Dynamo would trace instead. The
function object, its signature, file and line stay, so whoever holds it already is seen.
"""

from __future__ import annotations

import inspect
import time
import types
import warnings
import weakref
from collections import Counter
from typing import TYPE_CHECKING, Any

from compile_ledger.facts.outside import Caller, OwnCalls
from compile_ledger.facts.place import Lines, Place, lines_of
from compile_ledger.observe.stack import callers, is_users

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from compile_ledger.observe.hooks.regions import RegionState
    from compile_ledger.observe.recording.session import Session

CHANGED = "a counting stand-in for the code of each function that a region compiles"
_SUSPENDS = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
_MOST_CALLERS = 8
_PLACEHOLDER = "compile-ledger hands the call on"
_STANDS_FOR = "compile_ledger_stands_for"


class Tally:
    """One compiled object, or a function, and the calls of its own code."""

    def __init__(self, owner: Any) -> None:
        """Count calls on ``owner``; None: any call of the function."""
        self.regions: list[int] = []
        self.kind = None if owner is None else type(owner)
        self.owner = None if owner is None else _held(owner)
        self.calls = [0, 0]
        """Inside regions, outside."""
        self.ns = [0, 0]
        self.trained = 0
        self.others = 0
        self.lines: Counter[Lines] = Counter()
        self.other_lines: Counter[Lines] = Counter()
        self.why = ""

    def fact(self) -> OwnCalls:
        """The counts so far."""
        lines = self.lines or self.other_lines
        return OwnCalls(
            regions=tuple(self.regions),
            inside=self.calls[0],
            outside=self.calls[1],
            inside_ns=self.ns[0],
            outside_ns=self.ns[1],
            trained=self.trained,
            others=self.others,
            callers=tuple(Caller(*line, n) for line, n in lines.most_common(_MOST_CALLERS)),
            why=self.why,
        )


def _held(owner: Any) -> Callable[[], Any]:
    """Gives the object without keeping it alive, where it can be held so."""
    try:
        return weakref.ref(owner)
    except TypeError:
        return lambda: owner


class OwnCallCounter:
    """Watches every region's own code from the region's making on."""

    def __init__(self, session: Session) -> None:
        """Watch nothing yet; set it as ``session.own_calls``."""
        self.session = session
        self.stand_ins: dict[int, StandIn] = {}
        """By the address of the function, which they keep alive."""
        self.tallies: list[Tally] = []

    def watch(self, region: RegionState, target: Any) -> None:
        """Count the calls of what a region was just made of."""
        found = list(own_functions(target))
        if not found:
            tally = Tally(None)
            tally.why = "its code is no Python function that can be watched"
            self.tallies.append(tally)
        for function, owner in found:
            tally = self._tally(function, owner)
        tally.regions.append(region.fact.id)

    def _tally(self, function: types.FunctionType, owner: Any) -> Tally:
        stand_in = self.stand_ins.get(id(function))
        if stand_in is None:
            stand_in = self.stand_ins[id(function)] = StandIn(self.session, function)
            self.session.restore.append(stand_in.remove)
        known = stand_in.tally_of(owner)
        if known is None:
            known = Tally(owner)
            stand_in.tallies[id(owner)] = known
            self.tallies.append(known)
        return known

    def facts(self) -> list[OwnCalls]:
        """One for each object or function that was compiled."""
        return [tally.fact() for tally in self.tallies]


class StandIn:
    """Stands in for one function's code."""

    def __init__(self, session: Session, function: types.FunctionType) -> None:
        """Exchange the code of ``function``; :meth:`remove` puts it back."""
        self.session = session
        self.function = function
        self.code = function.__code__
        self.tallies: dict[int, Tally] = {}
        self.own = types.FunctionType(
            self.code,
            function.__globals__,
            function.__name__,
            function.__defaults__,
            function.__closure__,
        )
        self.own.__kwdefaults__ = function.__kwdefaults__
        function.__code__ = handing_on(self.code, self._make())

    def remove(self) -> None:
        """Give the function its own code again."""
        self.function.__code__ = self.code

    def tally_of(self, owner: Any) -> Tally | None:
        """The tally of calls on one object, while that lives."""
        found = self.tallies.get(id(owner))
        if found is None or found.owner is None or found.owner() is owner:
            return found
        return None

    def _make(self) -> Callable[..., Any]:
        """What the exchanged code calls."""
        from torch.compiler import is_compiling

        own, tallies, of_any = self.own, self.tallies, id(None)

        def run(*args: Any, **kwargs: Any) -> Any:
            if is_compiling():
                return own(*args, **kwargs)
            tally = tallies.get(of_any) or (self.tally_of(args[0]) if args else None)
            if tally is None:
                if args:
                    self._another(args[0])
                return own(*args, **kwargs)
            return self._timed(tally, args, kwargs)

        setattr(run, _STANDS_FOR, self.code)
        return run

    def _timed(self, tally: Tally, args: Any, kwargs: Any) -> Any:
        """Run one call; what it calls of the same code itself belongs to it."""
        local = self.session.local
        busy = getattr(local, "own_calls", ())
        if tally in busy:
            return self.own(*args, **kwargs)
        outside = not getattr(local, "calls", None)
        if outside:
            self.session.contained(_note, tally)
        local.own_calls = (*busy, tally)
        began = time.process_time_ns()
        try:
            return self.own(*args, **kwargs)
        finally:
            tally.ns[outside] += time.process_time_ns() - began
            tally.calls[outside] += 1
            local.own_calls = busy

    def _another(self, owner: Any) -> None:
        """A call on an object that no region was made of."""
        for tally in self.tallies.values():
            if not tally.calls[0] and type(owner) is tally.kind:
                if not getattr(self.session.local, "calls", None):
                    tally.others += 1
                    self.session.contained(_note_line, tally.other_lines)
                return


def _note(tally: Tally) -> None:
    import torch

    tally.trained += torch.is_grad_enabled()
    _note_line(tally.lines)


def _note_line(lines: Counter[Lines]) -> None:
    lines[calling_line()] += 1


def calling_line() -> Lines:
    """The user's line that calls, and the library's that it led to; stand-ins are nobody's."""
    found = [
        Place(frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name)
        for frame in callers(2)
        if is_users(frame.f_code.co_filename) and _PLACEHOLDER not in frame.f_code.co_consts
    ]
    return lines_of(reversed(found))


def own_functions(target: Any) -> Iterator[tuple[types.FunctionType, Any]]:
    """The functions that calls of a compiled object run, each with its object or None.

    Of a wrapper of torch's that holds a ``module`` (``DistributedDataParallel``) that
    module's, too, the last: a call of either is a call of what was compiled.
    """
    import torch

    target, owner = innermost(target), getattr(target, "__self__", None)
    if isinstance(owner, torch.nn.Module) and target.__name__ in ("_call_impl", "__call__"):
        target = owner
    if isinstance(target, torch.nn.Module):
        yield from _watchable(getattr(type(target), "forward", None), target)
        inner = getattr(target, "module", None)
        if isinstance(inner, torch.nn.Module) and _wraps(target):
            yield from own_functions(inner)
    elif isinstance(target, types.MethodType):
        yield from _watchable(innermost(target.__func__), owner)
    elif isinstance(target, types.FunctionType):
        yield from _watchable(target, None)
    else:
        yield from _watchable(inspect.getattr_static(type(target), "__call__", None), target)


def innermost(target: Any) -> Any:
    """What was compiled, where that was compiled already."""
    while getattr(target, "_torchdynamo_orig_callable", None) is not None:
        target = target._torchdynamo_orig_callable  # noqa: SLF001
    return target


def own_code(code: types.CodeType) -> types.CodeType:
    """The program's code, where ``code`` is a stand-in for it; else ``code``."""
    if _PLACEHOLDER not in code.co_consts:
        return code
    every = (getattr(constant, _STANDS_FOR, None) for constant in code.co_consts)
    return next((found for found in every if found is not None), code)


def _wraps(module: Any) -> bool:
    return type(module).__module__.startswith(("torch.nn.parallel", "torch.distributed"))


def _watchable(function: Any, owner: Any) -> Iterator[tuple[types.FunctionType, Any]]:
    if isinstance(function, types.FunctionType) and not function.__code__.co_flags & _SUSPENDS:
        yield function, owner


def handing_on(code: types.CodeType, run: Callable[..., Any]) -> types.CodeType:
    """Code with the signature, name, file and line of ``code`` that returns ``run``'s result."""
    source = f"def {_PLAIN}{_parameters(code)}: return {_PLACEHOLDER!r}{_arguments(code)}"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        module = compile(source, code.co_filename, "exec")
    made = next(c for c in module.co_consts if isinstance(c, types.CodeType))
    constants = tuple(run if c == _PLACEHOLDER else c for c in made.co_consts)
    changes: dict[str, Any] = {
        "co_consts": (*constants, _PLACEHOLDER),
        "co_name": code.co_name,
        "co_firstlineno": code.co_firstlineno,
        "co_freevars": code.co_freevars,
    }
    if hasattr(code, "co_qualname"):
        changes["co_qualname"] = code.co_qualname
    return made.replace(**changes)


_PLAIN = "stand_in"


def _names(code: types.CodeType) -> tuple[list[str], list[str], list[str], str, str]:
    """Positional-only, other positional, keyword-only names, ``*args``, ``**kwargs``."""
    names = list(code.co_varnames)
    only, every = code.co_posonlyargcount, code.co_argcount
    keywords = names[every : every + code.co_kwonlyargcount]
    rest = names[every + len(keywords) :]
    star = rest.pop(0) if code.co_flags & inspect.CO_VARARGS else ""
    double = rest.pop(0) if code.co_flags & inspect.CO_VARKEYWORDS else ""
    return names[:only], names[only:every], keywords, star, double


def _parameters(code: types.CodeType) -> str:
    only, plain, keywords, star, double = _names(code)
    words = [*only, *(["/"] if only else []), *plain]
    words += [f"*{star}"] if star else (["*"] if keywords else [])
    words += keywords + ([f"**{double}"] if double else [])
    return f"({', '.join(words)})"


def _arguments(code: types.CodeType) -> str:
    only, plain, keywords, star, double = _names(code)
    words = [*only, *plain, *([f"*{star}"] if star else [])]
    words += [f"{name}={name}" for name in keywords] + ([f"**{double}"] if double else [])
    return f"({', '.join(words)})"
