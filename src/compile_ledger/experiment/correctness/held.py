"""What a target holds besides modules: tensors, containers, optimizers, plain objects.

A region can change them without returning them; that is output all the same.
"""

from __future__ import annotations

import sys
import types
from typing import Any

from compile_ledger.observe.stack import is_program

from .code_names import held_by
from .leaves import Leaf, leaves
from .reach import functions_of

MOST_LEAVES = 512
"""Leaves of one held value that are watched; a longer one is watched in part."""


def held_values(target: Any) -> dict[str, Any]:
    """Changeable things that the user's code under ``target`` refers to, by name."""
    found: dict[str, Any] = {}
    seen: set[int] = set()
    left = [target]
    while left:
        for function, _ in functions_of(left.pop()):
            if id(function) in seen:
                continue
            seen.add(id(function))
            for name, value in held_by(function):
                if isinstance(value, (types.FunctionType, types.MethodType)):
                    left.append(value)
                elif _is_changeable(value):
                    found.setdefault(name, value)
    return found


def _is_changeable(value: Any) -> bool:
    import torch

    if isinstance(value, (torch.Tensor, torch.optim.Optimizer, list, dict, set)):
        return True
    if isinstance(value, (torch.nn.Module, type, types.ModuleType)) or callable(value):
        return False
    home = sys.modules.get(type(value).__module__)
    return is_program(getattr(home, "__file__", None) or "<frozen >") and hasattr(value, "__dict__")


def held_leaves(held: dict[str, Any]) -> list[Leaf]:
    """The leaves of everything held, under ``state NAME``."""
    import torch

    found: list[Leaf] = []
    for name, value in held.items():
        watched = value
        if isinstance(value, torch.optim.Optimizer):
            watched = {"param_groups": value.param_groups, "state": value.state}
        found += leaves(watched, f"state {name}")[:MOST_LEAVES]
    return found
