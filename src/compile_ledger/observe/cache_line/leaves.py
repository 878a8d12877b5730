"""Walks an entry's guard tree, leaf by leaf."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from .lookup import root_manager

_RELATIONAL = frozenset(
    {
        "NO_TENSOR_ALIASING",
        "OBJECT_ALIASING",
        "TENSOR_ALIASING",
        "STORAGE_OVERLAPPING",
        "SYMBOLIC_SHAPE_GUARD",
    }
)


class Leaf(NamedTuple):
    """One guard of the runtime's, with the manager that holds it."""

    manager: Any
    guard: Any
    source: str
    kind: str
    epilogue: bool = False

    @property
    def relational(self) -> bool:
        """Whether it looks at several values, and cannot be asked of one."""
        return self.epilogue or self.kind in _RELATIONAL

    def parts(self) -> list[str]:
        """The guard's texts, as the runtime words them."""
        return list(self.guard.verbose_code_parts())


def leaves(entry: Any) -> Iterator[Leaf]:
    """Every leaf guard of an entry, a relational one once."""
    root = root_manager(entry)
    seen: set[tuple[str, ...]] = set()
    for leaf in _all(root):
        if leaf.kind in _RELATIONAL:
            key = (leaf.kind, *leaf.parts())
            if key in seen:
                continue
            seen.add(key)
        yield leaf
    if hasattr(root, "get_epilogue_lambda_guards"):
        for guard in root.get_epilogue_lambda_guards():
            yield Leaf(root, guard, "", type(guard).__name__, epilogue=True)


def _all(root: Any) -> Iterator[Leaf]:
    for manager in managers(root):
        source = "" if manager is root else manager.get_source() or ""
        for guard in manager.get_leaf_guards():
            yield Leaf(manager, guard, source, type(guard).__name__)


def managers(root: Any) -> Iterator[Any]:
    """A manager and all below it, each before those that it leads to."""
    waiting = [root]
    while waiting:
        manager = waiting.pop()
        yield manager
        waiting.extend(reversed(children(manager)))


def children(manager: Any) -> list[Any]:
    """The managers below one, the keys and values of a guarded dict first."""
    below = list(manager.get_child_managers())
    if not is_dict_manager(manager):
        return below
    pairs = sorted(manager.get_key_value_managers().items())
    return [one for _index, pair in pairs for one in pair if one is not None] + below


def is_dict_manager(manager: Any) -> bool:
    """Whether it checks a dict's type and length itself, outside its leaves."""
    return hasattr(manager, "get_key_value_managers")
