"""What is compiled already: from the object back to what was given to ``torch.compile``."""

from __future__ import annotations

import functools
import types
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from .cache_line.target import compiled_cell, is_compiled, is_module, region_context, unshimmed
from .hooks.regions import backend_inside

_ORIGINAL = "_torchdynamo_orig_callable"


@dataclass(frozen=True)
class Compiled:
    """Something that ``torch.compile`` made, and how to make it again."""

    fn: Any
    """The same callable without the compiler."""
    context: Any
    """The runtime's context of the region."""
    kwargs: dict[str, Any] = field(default_factory=dict)
    """Keyword arguments of ``torch.compile`` that make an equal region of ``fn``."""


def compiled(thing: Any) -> Compiled | None:
    """What is known of an object that is compiled already; None for any other.

    An ``OptimizedModule`` or its ``forward``, a compiled function or bound method, a
    method that was compiled as a decorator, a module after ``.compile()``, a partial
    of one of these, and a decorator's wrapper around one.
    """
    found = _without(thing)
    if found is None:
        return None
    fn, inner = found
    context = region_context(inner)
    if not callable(getattr(context, "callback", None)):  # a function that Dynamo was told to leave
        return None
    return Compiled(fn, context, dict(_kwargs(context)))


def compiled_in_place(thing: Any) -> bool:
    """Whether it is a module whose ``compile`` method was called."""
    return is_module(thing) and vars(thing).get("_compiled_call_impl") is not None


def _without(thing: Any) -> tuple[Any, Any] | None:
    """``thing`` without the compiler, and the object inside it that is compiled."""
    if is_compiled(thing):
        plain = vars(thing)[_ORIGINAL]
        return (thing._orig_mod if is_module(thing) else unshimmed(plain)), thing  # noqa: SLF001
    if is_module(thing):
        return _module(thing)
    if isinstance(thing, types.MethodType):
        return _method(thing)
    if isinstance(thing, functools.partial):
        found = _without(thing.func)
        return found and (functools.partial(found[0], *thing.args, **thing.keywords), found[1])
    if isinstance(thing, types.FunctionType):
        return _wrapper(thing)
    return None


def _module(module: Any) -> tuple[Any, Any] | None:
    """A module after ``.compile()``, or one whose ``forward`` was replaced by a compiled one."""
    if compiled_in_place(module):
        return module._call_impl, module  # noqa: SLF001  what ``.compile()`` itself compiles
    forward = vars(module).get("forward")
    found = None if forward is None else _without(forward)
    return found and (functools.partial(_with_forward, module, found[0]), found[1])


def _with_forward(module: Any, forward: Any, *args: Any, **kwargs: Any) -> Any:
    """Call a module with another ``forward`` than the one that was put into it."""
    held = vars(module)["forward"]
    module.forward = forward
    try:
        return module(*args, **kwargs)
    finally:
        module.forward = held


def _method(method: types.MethodType) -> tuple[Any, Any] | None:
    owner, function = method.__self__, method.__func__
    if function.__name__ in ("__call__", "_wrapped_call_impl") and is_module(owner):
        return _without(owner)
    found = _without(function)
    return found and (types.MethodType(found[0], owner), found[1])


def _wrapper(function: types.FunctionType) -> tuple[Any, Any] | None:
    """The wrapper that a decorator put around a compiled function, made again around the plain."""
    cell = compiled_cell(function)
    found = None if cell is None else _without(cell.cell_contents)
    if found is None:
        return None
    closure = tuple(
        types.CellType(found[0]) if one is cell else one for one in function.__closure__ or ()
    )
    made = types.FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__, closure
    )
    made.__kwdefaults__ = function.__kwdefaults__
    return functools.update_wrapper(made, found[0]), found[1]


def _kwargs(context: Any) -> Iterator[tuple[str, Any]]:
    if getattr(context, "_dynamic", None) is not None:
        yield "dynamic", context._dynamic  # noqa: SLF001
    if getattr(context, "fullgraph", False):
        yield "fullgraph", True
    if getattr(context, "_isolate_recompiles_id", -1) != -1:
        yield "isolate_recompiles", True
    limit = _recompile_limit(context.callback)
    if limit is not None:
        yield "recompile_limit", limit
    kept = dict(_backend(backend_inside(context.callback)))
    chosen = getattr(getattr(context, "_hooks", None), "guard_filter_fn", None)
    if chosen is not None:
        kept["options"] = {**kept.get("options", {}), "guard_filter_fn": chosen}
    yield from kept.items()


def _recompile_limit(callback: Any) -> Any:
    """The region's own limit: kept by one of the callbacks that wrap the backend."""
    while callback is not None:
        limit = vars(callback).get("_recompile_limit") if hasattr(callback, "__dict__") else None
        if limit is not None:
            return limit
        callback = getattr(callback, "_torchdynamo_orig_backend", None)
    return None


def _backend(backend: Any) -> Iterator[tuple[str, Any]]:
    name = getattr(backend, "compiler_name", "")
    if name == "inductor":
        yield from _inductor(backend)
        return
    inner = getattr(backend, "compiler_fn", backend)
    yield "backend", name if _registered(name) is inner else inner
    yield from getattr(backend, "kwargs", {}).items()


def _inductor(backend: Any) -> Iterator[tuple[str, Any]]:
    """A mode is kept by the runtime as the options that it stands for."""
    from torch._inductor import list_mode_options

    options = dict(getattr(backend, "config", {}))
    if not options:
        return
    modes = list_mode_options(dynamic=getattr(backend, "dynamic", None))
    mode = next((name for name, meant in modes.items() if meant == options), None)
    yield ("mode", mode) if mode else ("options", options)


def _registered(name: str) -> Any:
    """The backend that torch knows by this name; None for none."""
    from torch._dynamo.backends.registry import lookup_backend
    from torch._dynamo.exc import InvalidBackend

    try:
        return lookup_backend(name) if name else None
    except InvalidBackend:
        return None
