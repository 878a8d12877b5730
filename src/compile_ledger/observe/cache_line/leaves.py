"""Walks an entry's guard tree, leaf by leaf."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

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


@dataclass(frozen=True, slots=True)
class Leaf:
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
    for leaf in _below(root, root=True):
        if leaf.relational:
            key = (leaf.kind, *leaf.parts())
            if key in seen:
                continue
            seen.add(key)
        yield leaf
    if hasattr(root, "get_epilogue_lambda_guards"):
        for guard in root.get_epilogue_lambda_guards():
            yield Leaf(root, guard, "", type(guard).__name__, epilogue=True)


def _below(manager: Any, *, root: bool = False) -> Iterator[Leaf]:
    source = "" if root else manager.get_source() or ""
    for guard in manager.get_leaf_guards():
        yield Leaf(manager, guard, source, type(guard).__name__)
    for child in children(manager):
        yield from _below(child)


def children(manager: Any) -> Iterator[Any]:
    """The managers below one, the keys and values of a guarded dict first."""
    pairs = getattr(manager, "get_key_value_managers", None)
    if pairs is not None:
        for _index, pair in sorted(pairs().items()):
            yield from (one for one in pair if one is not None)
    yield from manager.get_child_managers()


def is_dict_manager(manager: Any) -> bool:
    """Whether it checks a dict's type and length itself, outside its leaves."""
    return hasattr(manager, "get_key_value_managers")
