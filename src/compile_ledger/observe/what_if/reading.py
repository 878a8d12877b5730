"""Reads what a guard's source names, and runs no code of the user's.

A recorder looks at the frames of a running program. A property, ``__getattr__`` or
``__getitem__`` of the user's own would run there once more, and a number taken out of a
tensor would copy its data: such a source is left unread.
"""

from __future__ import annotations

import ast
import types
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any


class UnreadError(Exception):
    """A source that cannot be read without running code, or without copying data."""


Step = Callable[[Any], Any]
_C_GETTERS = (types.GetSetDescriptorType, types.MemberDescriptorType)
_THROUGH: dict[str, Step] = {"type": type, "dict": dict, "list": list, "tuple": tuple, "len": len}
_CONTAINERS = (dict, list, tuple, set, frozenset, types.MappingProxyType)
_NUMBERS = (bool, int, float, complex, str, bytes, type(None))
_OF_TENSORS = frozenset({"size", "stride", "storage_offset", "dim"})
_MODULE_PARTS = ("_parameters", "_buffers", "_modules")


def read(source: str, scope: Mapping[str, Any], known: dict[str, Any]) -> Any:
    """The value of a source; ``known`` keeps what was read on the way to it.

    Raises :class:`UnreadError`; and ``KeyError``, ``IndexError`` or ``AttributeError``
    where the part that is named is missing.
    """
    if source in known:
        return known[source]
    owner, step = _split(source)
    if step is None:
        if owner not in scope:
            raise UnreadError(source)
        value = scope[owner]
    else:
        value = step(read(owner, scope, known))
    known[source] = value
    return value


def may_evaluate(text: str, scope: Mapping[str, Any], known: dict[str, Any]) -> bool:
    """Whether Python's own operators on plain values are all that a text would run."""
    try:
        return all(_is_plain(read(part, scope, known)) for part in _parts(text))
    except (UnreadError, LookupError, AttributeError, TypeError):
        return False


@lru_cache(maxsize=8192)
def _split(source: str) -> tuple[str, Step | None]:
    """What a source starts from, and the last step to it; None: a name alone."""
    try:
        node = ast.parse(source.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise UnreadError(source) from error
    if isinstance(node, ast.Name):
        return node.id, None
    if isinstance(node, ast.Attribute):
        return ast.unparse(node.value), lambda owner, name=node.attr: attribute(owner, name)
    if isinstance(node, ast.Subscript):
        key = _literal(node.slice, source)
        return ast.unparse(node.value), lambda owner: _item(owner, key)
    return _split_call(node, source)


def _split_call(node: ast.expr, source: str) -> tuple[str, Step]:
    """``type(x)``, ``dict.keys(x)`` and ``x.size()``."""
    if not isinstance(node, ast.Call) or node.keywords:
        raise UnreadError(source)
    function = ast.unparse(node.func)
    if len(node.args) == 1 and function in _THROUGH:
        through = _THROUGH[function]
        return ast.unparse(node.args[0]), lambda owner: _through(through, owner)
    if len(node.args) == 1 and function == "dict.keys":
        return ast.unparse(node.args[0]), lambda owner: list(dict.keys(owner))
    if isinstance(node.func, ast.Attribute) and not node.args and node.func.attr in _OF_TENSORS:
        name = node.func.attr
        return ast.unparse(node.func.value), lambda owner: _of_tensor(owner, name)
    raise UnreadError(source)


def _literal(node: ast.expr, source: str) -> Any:
    try:
        return ast.literal_eval(node)
    except ValueError as error:
        raise UnreadError(source) from error


def _through(function: Step, owner: Any) -> Any:
    if function is not type and type(owner) not in _CONTAINERS:
        raise UnreadError(str(function))
    return function(owner)


def _item(owner: Any, key: Any) -> Any:
    """An item of a built-in container, also of a subclass: its own ``[]`` is not asked."""
    for kind in (dict, list, tuple):
        if issubclass(type(owner), kind):
            return kind.__getitem__(owner, key)
    if type(owner) is types.MappingProxyType:
        return owner[key]
    raise UnreadError(type(owner).__name__)


def attribute(owner: Any, name: str) -> Any:
    """An attribute that is stored, not computed. Raises as :func:`read` does."""
    kind = type(owner)
    if issubclass(kind, types.ModuleType):
        return _item(object.__getattribute__(owner, "__dict__"), name)
    if issubclass(kind, type) or isinstance(_of_class(kind, "__getattribute__"), _PYTHON):
        return _of_type(owner, name)
    shared, own = _of_class(kind, name), _own(owner)
    if type(shared) in _C_GETTERS:
        return _from_c(owner, name, shared)
    if name in own and not hasattr(type(shared), "__set__"):
        return own[name]
    return _missing(owner, name, own) if shared is _MISSING else _bound(owner, name, shared)


_MISSING = object()
_PYTHON = types.FunctionType


def _of_class(kind: type, name: str) -> Any:
    """What a class holds under a name, as it is held."""
    found = (vars(base)[name] for base in kind.__mro__ if name in vars(base))
    return next(found, _MISSING)


def _own(owner: Any) -> dict[str, Any]:
    """The instance's own attributes; none where ``__dict__`` is something else."""
    plain = type(_of_class(type(owner), "__dict__")) is types.GetSetDescriptorType
    found: dict[str, Any] = object.__getattribute__(owner, "__dict__") if plain else {}
    return found


def _of_type(owner: Any, name: str) -> Any:
    """An attribute of a class, or of what answers for its attributes itself."""
    if not issubclass(type(owner), type):
        raise UnreadError(name)
    if name in ("__dict__", "__mro__"):
        return vars(owner) if name == "__dict__" else owner.__mro__
    shared = _of_class(owner, name)
    if shared is _MISSING:
        raise UnreadError(name)
    return shared if isinstance(shared, _PYTHON) else _unbound(shared, name)


def _bound(owner: Any, name: str, shared: Any) -> Any:
    """What a class holds, as its instance would give it."""
    if isinstance(shared, _PYTHON):
        return types.MethodType(shared, owner)
    return _unbound(shared, name)


def _unbound(shared: Any, name: str) -> Any:
    """What a class holds, where it is a value and no descriptor."""
    if hasattr(type(shared), "__get__"):
        raise UnreadError(name)
    return shared


def _from_c(owner: Any, name: str, held: Any) -> Any:
    """An attribute that C code holds; a tensor subclass may answer by code of its own."""
    import torch

    if issubclass(type(owner), torch.Tensor) and (not _is_dense(owner) or name == "grad"):
        raise UnreadError(name)
    return held.__get__(owner)


def _missing(owner: Any, name: str, own: Mapping[str, Any]) -> Any:
    """What a module's ``__getattr__`` would find, or nobody's would."""
    import torch

    asked = _of_class(type(owner), "__getattr__")
    if asked is torch.nn.Module.__getattr__:
        for part in _MODULE_PARTS:
            if name in (held := own.get(part) or {}):
                return held[name]
    elif asked is not _MISSING:
        raise UnreadError(name)
    raise AttributeError(name)


def has_own_getattr(owner: Any) -> bool:
    """Whether a class of the user's answers for attributes that are not stored."""
    import torch

    kind = type(owner)
    own = (_of_class(kind, "__getattr__"), _of_class(kind, "__getattribute__"))
    return any(isinstance(one, _PYTHON) and one is not torch.nn.Module.__getattr__ for one in own)


def _of_tensor(owner: Any, name: str) -> Any:
    if not _is_dense(owner):
        raise UnreadError(name)
    return getattr(owner, name)()


def _is_dense(value: Any) -> bool:
    """A tensor whose answers come from C, and not from a subclass of the user's."""
    import torch

    return type(value) in (torch.Tensor, torch.nn.Parameter)


def _is_plain(value: Any) -> bool:
    return type(value) in _NUMBERS or _is_dense(value)


@lru_cache(maxsize=4096)
def _parts(text: str) -> tuple[str, ...]:
    """The sources in a text of comparisons. Raises :class:`UnreadError` for any other form."""
    try:
        waiting: list[ast.AST] = [ast.parse(text.strip(), mode="eval").body]
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise UnreadError(text) from error
    found = []
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Call | ast.Subscript | ast.Attribute):
            found.append(ast.unparse(node))
        elif isinstance(node, ast.Name):
            raise UnreadError(text)
        else:
            waiting.extend(ast.iter_child_nodes(node))
    return tuple(found)
