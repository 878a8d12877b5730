"""The kinds of guard: what usually causes each, and what could test it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of guard failure."""

    name: str
    title: str
    """In a sentence: "recompiles on TITLE"."""
    cause: str
    """What usually makes it fail."""
    mechanism: str
    """The mechanism that an experiment would test."""
    experiment: str = ""
    """The change that could test it without an edit; empty: an edit is needed."""
    bounded: bool = False
    """True when the values are few by nature, so that recompiles must end."""


_DYNAMIC = "automatic dynamic shapes, or TORCH_COMPILE_DYNAMIC_SOURCES for this dimension"
_LIMIT = "a higher recompile limit: it settles when the values are few"
_INTS = "dynamic=True; for attributes of modules allow_unspec_int_on_nn_module"
_UNBACKED = "TORCH_COMPILE_UNBACKED_SOURCES for this dimension"


def _few(name: str, title: str, cause: str, mechanism: str, experiment: str = _LIMIT) -> Kind:
    """A kind whose values are few by nature."""
    return Kind(name, title, cause, mechanism, experiment, bounded=True)


_TENSORS = (
    Kind("size", "a tensor size", "inputs of varying length", "static shape", _DYNAMIC),
    Kind("stride", "a tensor stride", "views, transposes, channels_last", "memory layout", _LIMIT),
    _few("rank", "a number of dimensions", "batched and unbatched inputs", "rank"),
    _few("dtype", "a dtype", "mixed precision, integer widths", "dtype"),
    _few(
        "dispatch-keys",
        "a device, layout or dispatch key set",
        "inference tensors, sparse or conjugate tensors, another device, vmap or grad",
        "dispatch key set",
    ),
    _few("device", "a device index", "inputs on several devices", "device"),
    _few("requires-grad", "requires_grad", "frozen and trained tensors", "requires_grad"),
    _few(
        "tensor-type",
        "a tensor's type",
        "a Parameter, a subclass, None or a number where a tensor was",
        "tensor type",
    ),
    _few("dim-marking", "the marks on a tensor", "mark_dynamic on some calls only", "marks"),
    _few("aliasing", "whether inputs are one object", "an argument passed twice", "aliasing"),
)

_VALUES = (
    Kind(
        "constant-int",
        "a Python int",
        "counters, lengths, layer indices, loop bounds",
        "int specialisation",
        _INTS,
    ),
    Kind(
        "constant-float",
        "a Python float",
        "learning rates, scales, schedules, exponents",
        "float specialisation",
        "specialize_float=False, which code-generating backends can undo",
    ),
    _few("constant-bool", "a bool", "flags, training mode", "flag"),
    Kind("constant-str", "a string", "names, stages, modes", "string specialisation", _LIMIT),
    _few("constant-none", "None or not", "optional arguments", "optional argument"),
    _few("constant-nan", "NaN", "a NaN as a Python float", "float specialisation", ""),
    Kind("constant", "a Python constant", "bytes, complex, dtypes, devices, sets", "constant"),
    _few(
        "relation",
        "a relation between sizes or numbers",
        "branches on shapes, sizes equal by chance, sizes of 0 and 1",
        "symbolic relation",
        _UNBACKED,
    ),
)

_OBJECTS = (
    Kind("identity", "the identity of an object", "callables or enums made anew", "identity"),
    Kind("function-code", "the code of a function", "another or a new function", "identity"),
    Kind("type", "a Python type", "classes made per instance; a list where a tuple was", "type"),
    Kind("length", "a container's length", "growing lists, caches, varargs", "length"),
    Kind("dict-keys", "a dictionary's keys", "keys added, renamed or reordered", "keys"),
    Kind("set-elements", "a set's elements", "elements added or removed", "elements"),
    _few("hasattr", "whether an attribute exists", "attributes set late", "attribute", ""),
    _few("access", "an attribute or key that is gone", "deleted state", "attribute", ""),
    Kind("iterator", "the state of an iterator", "ranges or counts half used", "iterator"),
    Kind("invalidated", "an entry whose object was freed", "objects made per call", "lifetime"),
)

_STATES = (
    _few(
        "global-state",
        "a global state of torch",
        "no_grad, autocast, thread count, default dtype",
        "global state",
    ),
    _few("function-mode", "the torch function modes", "a mode or device context", "modes", ""),
    _few("default-device", "the default device", "set_default_device", "global state", ""),
    _few("tensor-hooks", "saved tensor hooks", "hooks set around some calls", "hooks", ""),
    _few("functorch", "the transforms around the call", "vmap or grad", "transforms", ""),
    _few("dual-level", "the forward AD level", "nested forward AD", "transforms", ""),
    Kind("backend", "the backend object", "torch.compile again with a new backend", "backend"),
    Kind("error", "an error in place of a recompile", "a stance or a constraint", "error"),
    _few(
        "concurrent",
        "guards that hold when asked again",
        "threads that make their first calls at once",
        "threads",
        "",
    ),
    Kind("other", "a guard that is not known here", "not known", "not known"),
)

KINDS: dict[str, Kind] = {k.name: k for k in (*_TENSORS, *_VALUES, *_OBJECTS, *_STATES)}
"""Every kind by its name."""
