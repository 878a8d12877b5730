"""From anything that ``torch.compile`` returns to the function whose frame it enters."""

from __future__ import annotations

import functools
import types
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

_ORIGINAL = "_torchdynamo_orig_callable"
_CALLS = ("_wrapped_call_impl", "_call_impl", "__call__")
_DEEPEST = 20
_EMPTY = types.CellType()


@dataclass(frozen=True)
class Target:
    """The root function of a region, and what the region itself adds to each call."""

    function: Any
    """A plain function; its code object owns the cache line."""
    name: str
    lead: tuple[Any, ...] = ()
    """Arguments that come before the caller's: ``self``, those of a partial."""
    keywords: dict[str, Any] = field(default_factory=dict)
    context: Any = None
    """The runtime's context of the region; None: asked of the function alone."""
    module: Any = None
    """The module, where the region is one."""

    @property
    def code(self) -> types.CodeType:
        """The root's code object."""
        found: types.CodeType = self.function.__code__
        return found

    @property
    def isolate_id(self) -> int:
        """The bucket of entries that the region uses; -1: the shared one."""
        return int(getattr(self.context, "_isolate_recompiles_id", -1))


def resolve(thing: Any) -> Target:
    """Find the root of a region. Raises ``TypeError`` where there is no Python code."""
    name = name_of(thing)
    lead: tuple[Any, ...] = ()
    keywords: dict[str, Any] = {}
    context = module = None
    for _ in range(_DEEPEST):
        context = context or region_context(thing)
        if isinstance(thing, functools.partial):
            lead, keywords = (*lead, *thing.args), {**thing.keywords, **keywords}
            thing = thing.func
        elif is_module(thing):
            shim = _shim_of(thing)
            module = thing if shim is None else None
            thing = shim or getattr(thing, "_orig_mod", thing).forward
        elif isinstance(thing, types.MethodType):
            owner, function = thing.__self__, thing.__func__
            through = is_module(owner) and function.__name__ in _CALLS
            lead = lead if through else (owner, *lead)
            thing = owner if through else function
        else:
            inner = _inner(thing)
            if inner is None:
                break
            thing = inner
    if not isinstance(thing, types.FunctionType):
        msg = f"no Python code object was found behind {name}"
        raise TypeError(msg)
    if _is_shim(thing):
        name = name_of(unshimmed(thing))
    return Target(thing, name, lead, keywords, context, module)


def _inner(thing: Any) -> Any:
    """What a wrapper wraps; None where there is nothing more to unwrap."""
    original = getattr(thing, "__dict__", {}).get(_ORIGINAL)
    if original is not None:
        return original
    if isinstance(thing, types.FunctionType):
        return _compiled_in_closure(thing)
    call: Any = vars(type(thing)).get("__call__")
    return types.MethodType(call, thing) if hasattr(call, "__code__") else None


def _compiled_in_closure(function: types.FunctionType) -> Any:
    """The compiled function that a decorator's wrapper holds, if it holds just one."""
    cell = compiled_cell(function)
    return None if cell is None else cell.cell_contents


def compiled_cell(function: types.FunctionType) -> types.CellType | None:
    """The cell of a wrapper that holds a compiled function, if it holds just one."""
    held = [c for c in function.__closure__ or () if c != _EMPTY and is_compiled(c.cell_contents)]
    return held[0] if len(held) == 1 else None


def is_compiled(thing: Any) -> bool:
    """Whether ``torch.compile`` returned this object; a bound method is not what it returned."""
    try:
        return _ORIGINAL in vars(thing) and not isinstance(thing, types.MethodType)
    except TypeError:
        return False


def is_module(thing: Any) -> bool:
    """Whether it is an ``nn.Module``."""
    import torch

    return isinstance(thing, torch.nn.Module)


def _shim_of(module: Any) -> Any:
    """The runtime's own function through which it compiles library modules, if it did."""
    forward = getattr(module, "__dict__", {}).get("forward")
    original = getattr(forward, _ORIGINAL, None)
    return original if isinstance(original, types.FunctionType) and _is_shim(original) else None


def _is_shim(function: types.FunctionType) -> bool:
    code = function.__code__
    return code.co_name == "inner" and code.co_filename.endswith("external_utils.py")


def unshimmed(function: Any) -> Any:
    """What the runtime's own function around a partial or a callable object calls."""
    shim = isinstance(function, types.FunctionType) and _is_shim(function)
    return _cells(function).get("fn", function) if shim else function


def _cells(function: Any) -> dict[str, Any]:
    """The free variables of a function that have a value."""
    return dict(_filled(function))


def _filled(function: Any) -> Iterator[tuple[str, Any]]:
    names = getattr(getattr(function, "__code__", None), "co_freevars", ())
    for name, cell in zip(names, getattr(function, "__closure__", None) or (), strict=False):
        if cell != _EMPTY:
            yield name, cell.cell_contents


def free_variables(function: Any) -> dict[str, Any]:
    """The free variables of a function, as its frame would see them."""
    return _cells(function)


def region_context(thing: Any) -> Any:
    """The runtime's context of a region: in the closure of what ``torch.compile`` returned."""
    found = getattr(thing, "__dict__", {}).get("dynamo_ctx")
    if found is not None:
        return found
    if is_module(thing):
        thing = getattr(thing, "_compiled_call_impl", None)
    for candidate in (thing, getattr(thing, "__wrapped__", None)):
        found = _cells(candidate).get("self")
        if type(found).__name__.endswith("Context") and hasattr(found, "enter_exit_hooks"):
            return found
    return None


def name_of(thing: Any) -> str:
    """What was compiled, by the qualified name that a user would know it by."""
    thing = getattr(thing, "_orig_mod", unshimmed(getattr(thing, _ORIGINAL, thing)))
    owner = getattr(thing, "__self__", None)
    if owner is not None and is_module(owner) and thing.__name__ in _CALLS:
        return name_of(owner)
    if isinstance(thing, functools.partial):
        return f"partial of {name_of(thing.func)}"
    for named in (thing, type(thing)):
        name = getattr(named, "__qualname__", None)
        if isinstance(name, str):
            return name
    return type(thing).__name__
