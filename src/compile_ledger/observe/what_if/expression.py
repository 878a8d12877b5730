"""Evaluates the text of a guard over described values, and nothing else.

The text may come from a file that a stranger saved, so it is never given to Python's
``eval``: only the forms below are known, over plain values and described tensors.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from compile_ledger.facts.tensor_spec import TensorSpec


class UnknownFormError(Exception):
    """A guard that cannot be decided from descriptions."""


_LONGEST = 20_000
_COMPARE: dict[type, Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
    ast.In: lambda a, b: a in b,
    ast.NotIn: lambda a, b: a not in b,
}
_ARITHMETIC: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "len": len,
    "list": list,
    "max": max,
    "min": min,
    "Max": max,
    "Min": min,
    "Eq": operator.eq,
    "Ne": operator.ne,
    "Mod": operator.mod,
    "__math_isnan": math.isnan,
    "___dict_contains": lambda key, held: key in held,
}
_SPEC_METHODS: dict[str, Callable[[TensorSpec], Any]] = {
    "size": lambda spec: spec.size,
    "stride": lambda spec: spec.stride,
    "storage_offset": lambda _spec: 0,
}
_PLAIN = (bool, int, float, str, bytes, type(None), list, tuple, dict, TensorSpec)


def evaluate(text: str, values: Mapping[str, Any]) -> Any:
    """The value of ``text`` with ``L`` as ``values``.

    Raises :class:`UnknownFormError` where a form or a value is not known here, and
    ``KeyError``, ``IndexError`` or ``TypeError`` where the values do not have the part
    that is asked for.
    """
    return _value(_parsed(text), values)


@lru_cache(maxsize=4096)
def _parsed(text: str) -> ast.expr:
    if len(text) > _LONGEST:
        raise UnknownFormError(text[:80])
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise UnknownFormError(text[:80]) from error


def _value(node: ast.expr, values: Mapping[str, Any]) -> Any:
    form = _FORMS.get(type(node))
    if form is None:
        raise UnknownFormError(type(node).__name__)
    return form(node, values)


def _constant(node: Any, _values: Mapping[str, Any]) -> Any:
    return node.value


def _name(node: Any, values: Mapping[str, Any]) -> Any:
    if node.id == "L":
        return values
    raise UnknownFormError(node.id)


def _subscript(node: Any, values: Mapping[str, Any]) -> Any:
    held, key = _value(node.value, values), _value(node.slice, values)
    if held is values and key not in values:
        raise UnknownFormError(str(key))
    if held is values or isinstance(held, (list, tuple, dict)):
        return _plain(held[key])
    raise UnknownFormError(type(held).__name__)


def _plain(value: Any) -> Any:
    """Only values whose operators are Python's own are computed with."""
    if type(value) in _PLAIN or isinstance(value, TensorSpec):
        return value
    raise UnknownFormError(type(value).__name__)


def _call(node: Any, values: Mapping[str, Any]) -> Any:
    if node.keywords:
        raise UnknownFormError(ast.unparse(node)[:80])
    if isinstance(node.func, ast.Attribute):
        return _method(node, values)
    function = _FUNCTIONS.get(getattr(node.func, "id", ""))
    if function is None:
        raise UnknownFormError(ast.unparse(node.func)[:80])
    return function(*(_value(argument, values) for argument in node.args))


def _method(node: Any, values: Mapping[str, Any]) -> Any:
    """``x.size()``, and ``dict.keys(d)`` of a guard on keys."""
    name = node.func.attr
    if ast.unparse(node.func) == "dict.keys" and len(node.args) == 1:
        return list(_value(node.args[0], values))
    owner = _value(node.func.value, values)
    if not isinstance(owner, TensorSpec) or name not in _SPEC_METHODS or node.args:
        raise UnknownFormError(name)
    return _SPEC_METHODS[name](owner)


def _listed(node: Any, values: Mapping[str, Any]) -> Any:
    return [_value(item, values) for item in node.elts]


def _negated(node: Any, values: Mapping[str, Any]) -> Any:
    value = _value(node.operand, values)
    if isinstance(node.op, ast.Not):
        return not value
    if isinstance(node.op, ast.USub) and isinstance(value, (int, float)):
        return -value
    raise UnknownFormError(type(node.op).__name__)


def _joined(node: Any, values: Mapping[str, Any]) -> Any:
    every = isinstance(node.op, ast.And)
    for part in node.values:
        if bool(_value(part, values)) != every:
            return not every
    return every


def _computed(node: Any, values: Mapping[str, Any]) -> Any:
    function = _ARITHMETIC.get(type(node.op))
    left, right = _value(node.left, values), _value(node.right, values)
    if function is None or not _numbers(left, right):
        raise UnknownFormError(type(node.op).__name__)
    return function(left, right)


def _numbers(*found: Any) -> bool:
    return all(isinstance(one, (int, float)) for one in found)


def _compared(node: Any, values: Mapping[str, Any]) -> Any:
    left = _value(node.left, values)
    for op, other in zip(node.ops, node.comparators, strict=True):
        right = _value(other, values)
        if not _COMPARE[type(op)](left, right):
            return False
        left = right
    return True


_FORMS: dict[type, Callable[[Any, Mapping[str, Any]], Any]] = {
    ast.Constant: _constant,
    ast.Name: _name,
    ast.Subscript: _subscript,
    ast.Call: _call,
    ast.List: _listed,
    ast.Tuple: lambda node, values: tuple(_listed(node, values)),
    ast.UnaryOp: _negated,
    ast.BoolOp: _joined,
    ast.BinOp: _computed,
    ast.Compare: _compared,
}
