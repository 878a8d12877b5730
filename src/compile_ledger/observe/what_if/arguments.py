"""The locals that a frame would start with, for arguments that are not passed."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

from compile_ledger.facts.cache_line import Parameter
from compile_ledger.facts.tensor_spec import TensorSpec
from compile_ledger.observe.cache_line.target import Target, free_variables

_CONTAINERS = (list, tuple, dict)
_DEEPEST = 6


def live_locals(target: Target, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """What the root's frame would hold. Raises ``TypeError`` as the call itself would."""
    signature = inspect.signature(target.function, follow_wrapped=False)
    bound = signature.bind(*target.lead, *args, **{**target.keywords, **kwargs})
    bound.apply_defaults()
    return {**bound.arguments, **free_variables(target.function)}


def offline_locals(
    parameters: Sequence[Parameter], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> dict[str, Any]:
    """The same from saved parameters; what the region itself supplied stays unknown."""
    asked = [_as_parameter(one) for one in parameters if not one.given]
    bound = inspect.Signature(asked).bind(*args, **kwargs)
    bound.apply_defaults()
    return {name: value for name, value in bound.arguments.items() if value is not UNKNOWN}


class Unknown:
    """The type of :data:`UNKNOWN`."""


UNKNOWN = Unknown()
"""A value that the saved document does not hold."""


def _as_parameter(one: Parameter) -> inspect.Parameter:
    kind = inspect._ParameterKind(one.kind)  # noqa: SLF001  the type of Parameter.kind
    default = inspect.Parameter.empty if one.default is None else _literal(one.default)
    return inspect.Parameter(one.name, kind, default=default)


def _literal(text: str) -> Any:
    import ast

    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return UNKNOWN


def described(values: Mapping[str, Any]) -> frozenset[str]:
    """Names of the locals that hold a description, themselves or inside a container."""
    return frozenset(name for name, value in values.items() if _holds_spec(value))


def _holds_spec(value: Any, depth: int = 0) -> bool:
    if isinstance(value, TensorSpec):
        return True
    if depth > _DEEPEST or not isinstance(value, _CONTAINERS):
        return False
    inner = value.values() if isinstance(value, dict) else value
    return any(_holds_spec(one, depth + 1) for one in inner)
