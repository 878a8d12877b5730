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

_TABLE = (
    Kind("size", "a tensor size", "inputs of varying length", "static shape", _DYNAMIC),
    Kind("stride", "a tensor stride", "views, transposes, channels_last", "memory layout"),
    Kind("rank", "a number of dimensions", "batched and unbatched inputs", "rank", _LIMIT, True),
    Kind("dtype", "a dtype", "mixed precision, integer widths", "dtype", _LIMIT, True),
    Kind(
        "dispatch-keys",
        "a device, layout or dispatch key set",
        "inference tensors, sparse or conjugate tensors, another device, vmap or grad",
        "dispatch key set",
        _LIMIT,
        bounded=True,
    ),
    Kind("device", "a device index", "inputs on several devices", "device", _LIMIT, True),
    Kind(
        "requires-grad",
        "requires_grad",
        "frozen and trained tensors",
        "requires_grad",
        _LIMIT,
        bounded=True,
    ),
    Kind(
        "tensor-type",
        "a tensor's type",
        "Parameter, subclass, None or a number where a tensor was",
        "tensor type",
        _LIMIT,
        bounded=True,
    ),
    Kind(
        "constant-int",
        "a Python int",
        "counters, lengths, layer indices, loop bounds",
        "int specialisation",
        "dynamic=True; for attributes of modules allow_unspec_int_on_nn_module",
    ),
    Kind(
        "constant-float",
        "a Python float",
        "learning rates, scales, schedules",
        "float specialisation",
        "specialize_float=False, which some backends undo",
    ),
    Kind("constant-bool", "a bool", "flags, training mode", "flag", _LIMIT, True),
    Kind("constant-str", "a string", "names, stages, modes", "string specialisation", _LIMIT),
    Kind("constant-none", "None or not", "optional arguments", "optional", _LIMIT, True),
    Kind("constant-nan", "NaN", "a NaN as a Python float", "float specialisation"),
    Kind("constant", "a Python constant", "bytes, complex, dtypes, sets, tuples", "constant"),
    Kind("identity", "the identity of an object", "callables or enums made anew", "identity"),
    Kind("function-code", "the code of a function", "other or new functions", "identity"),
    Kind("type", "a Python type", "classes made per instance, list or tuple", "type"),
    Kind("length", "a container's length", "growing lists, caches, varargs", "length"),
    Kind("dict-keys", "a dictionary's keys", "keys added, renamed or reordered", "keys"),
    Kind("set-elements", "a set's elements", "elements added or removed", "elements"),
    Kind("hasattr", "whether an attribute exists", "attributes set late", "attribute", "", True),
    Kind("access", "an attribute or key that is gone", "deleted state", "attribute", "", True),
    Kind("iterator", "the state of an iterator", "ranges or counts half used", "iterator"),
    Kind(
        "global-state",
        "a global state of torch",
        "no_grad, autocast, threads, default dtype",
        "global state",
        _LIMIT,
        bounded=True,
    ),
    Kind("function-mode", "the torch function modes", "a mode or device context", "mode", "", True),
    Kind("default-device", "the default device", "set_default_device", "global state", "", True),
    Kind("tensor-hooks", "saved tensor hooks", "hooks set around calls", "global state"),
    Kind("functorch", "the transforms around the call", "vmap or grad", "transforms", "", True),
    Kind("dual-level", "the forward AD level", "nested forward AD", "transforms", "", True),
    Kind("dim-marking", "the marks on a tensor", "mark_dynamic on some calls", "marks", "", True),
    Kind(
        "relation",
        "a relation between sizes or numbers",
        "branches on shapes, sizes equal by chance, 0 and 1",
        "symbolic relation",
        "TORCH_COMPILE_UNBACKED_SOURCES for this dimension",
        bounded=True,
    ),
    Kind(
        "aliasing", "whether inputs are one object", "an argument passed twice", "alias", "", True
    ),
    Kind("invalidated", "an entry whose object was freed", "objects made per call", "lifetime"),
    Kind("backend", "the backend object", "torch.compile anew with another backend", "backend"),
    Kind("error", "an error instead of a recompile", "a stance or a constraint", "error"),
    Kind("other", "a guard that is not known here", "unknown", "unknown"),
)

KINDS: dict[str, Kind] = {kind.name: kind for kind in _TABLE}
