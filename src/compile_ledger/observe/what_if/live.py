"""Asks the runtime's own guards of one entry, every one of them.

The runtime stops at the first guard that fails. Here each leaf is called with the
value of its source: no counter moves, and no accessor changes its place.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from types import CodeType
from typing import Any

from compile_ledger.facts.guard import Guard, Refusal
from compile_ledger.observe.cache_line.dicts import DICT, refused_by_dicts
from compile_ledger.observe.cache_line.leaves import Leaf, leaves
from compile_ledger.observe.cache_line.lookup import manager
from compile_ledger.observe.cache_line.predicates import parse
from compile_ledger.observe.cache_line.rows import as_guard, parsed_parts

from .axes import differences, of_tensor
from .process_state import changed_states
from .text import refusal, without_echoes
from .words import aspect_of, expected_of, shown


class Asking:
    """One entry asked about one set of locals."""

    def __init__(self, entry: Any, code: CodeType, values: Mapping[str, Any]) -> None:
        """Make the scope that the entry's guards are written in."""
        held = manager(entry)
        self.entry = entry
        self.code = code
        self.values = values
        self.scope = {
            **(getattr(held, "closure_vars", None) or {}),
            **(getattr(held, "global_scope", None) or {}),
            "L": values,
        }
        self._known: dict[str, tuple[bool, Any]] = {}

    def value(self, source: str) -> tuple[bool, Any]:
        """Whether the source leads to a value, and the value or the error."""
        if source not in self._known:
            try:
                self._known[source] = True, self.evaluate(source)
            except Exception as error:  # noqa: BLE001  any error of a lookup is the answer
                self._known[source] = False, error
        return self._known[source]

    def evaluate(self, text: str) -> Any:
        """The value of a text that this process's own torch wrote."""
        return eval(_compiled(text), self.scope)  # noqa: S307  see the docstring

    def rows(self, leaf: Leaf) -> list[Guard]:
        """A leaf's texts as rows."""
        return [as_guard(leaf.source, leaf.kind, one, self.code) for one in parsed_parts(leaf)]


@lru_cache(maxsize=8192)
def _compiled(text: str) -> CodeType:
    return compile(text.strip(), "<guard>", "eval")


def refusals(asking: Asking) -> tuple[list[Refusal], list[str]]:
    """Every refusal of an entry, and the guards that could not be asked."""
    found: list[Refusal] = []
    unknown: list[str] = []
    for leaf in leaves(asking.entry):
        ask_contained(asking, leaf, found, unknown)
    return without_echoes(found + dict_refusals(asking)), unknown


def ask_contained(asking: Asking, leaf: Leaf, found: list[Refusal], unknown: list[str]) -> None:
    """Add a leaf's refusals to ``found``; to ``unknown`` a leaf that cannot be asked."""
    try:
        found.extend(ask(asking, leaf))
    except Exception as error:  # noqa: BLE001  one guard that cannot be asked is counted
        unknown.append(f"{leaf.kind} {leaf.source}: {type(error).__name__}")


def dict_refusals(asking: Asking) -> list[Refusal]:
    """What the guarded dicts check themselves, outside their leaves."""
    refused = refused_by_dicts(asking.entry, asking.values)
    return [
        _dict_refusal(asking, as_guard(source, DICT, parse(text), asking.code))
        for source, text in refused
    ]


def ask(asking: Asking, leaf: Leaf) -> Iterator[Refusal]:
    """The refusals of one leaf."""
    if leaf.relational:
        yield from _ask_relation(asking, leaf)
        return
    if not leaf.source:
        if not leaf.guard(dict(asking.values)):
            yield from changed_states(asking.rows(leaf), asking.scope)
        return
    present, value = asking.value(leaf.source)
    if not present:
        row = asking.rows(leaf)[0]
        yield refusal(row, "presence", "present", f"missing ({type(value).__name__})")
    elif not leaf.guard(value):
        yield from _explained(asking, leaf, value)


def _ask_relation(asking: Asking, leaf: Leaf) -> Iterator[Refusal]:
    for row in asking.rows(leaf):
        if row.predicate == "are distinct":
            yield from _aliases(asking, row)
        elif not asking.evaluate(row.text):
            yield refusal(row, aspect_of(row), row.expected, "false")


def _aliases(asking: Asking, row: Guard) -> Iterator[Refusal]:
    """Two sources with one tensor; the runtime's own list of sources is the longer one."""
    listed = getattr(manager(asking.entry), "no_tensor_aliasing_sources", None)
    by_id: dict[int, str] = {}
    for source in listed or row.expected.split(", "):
        present, value = asking.value(source)
        first = by_id.setdefault(id(value), source) if present else source
        if first != source:
            yield refusal(row, "identity", "distinct tensors", f"{first} is {source}")


def _explained(asking: Asking, leaf: Leaf, value: Any) -> Iterator[Refusal]:
    """Which parts of a leaf that said no are false, and what stands there instead."""
    rows = asking.rows(leaf)
    if rows[0].tensor is not None:
        yield from _tensor(rows[0], value)
        return
    false = rows if len(rows) == 1 else [row for row in rows if not _holds(asking, row)] or rows
    for row in false:
        yield refusal(row, aspect_of(row), expected_of(row), _actual(row, value))


def _tensor(row: Guard, value: Any) -> Iterator[Refusal]:
    import torch

    if row.tensor is None or not isinstance(value, torch.Tensor):
        yield refusal(row, "type", "Tensor", type(value).__name__)
        return
    found = list(differences(row.tensor, of_tensor(value)))
    for difference in found or [("tensor", row.expected, shown(value))]:
        yield refusal(row, *difference)


def _holds(asking: Asking, row: Guard) -> bool:
    try:
        return bool(asking.evaluate(row.text))
    except Exception:  # noqa: BLE001  a text that is not Python: taken as the false one
        return False


def _actual(row: Guard, value: Any) -> str:
    if row.predicate == "len ==":
        return str(len(value))
    if row.predicate == "type is":
        return str(type(value))
    if row.predicate.startswith("has no "):
        return "present"
    return "absent" if row.predicate.startswith("has ") else shown(value)


def _dict_refusal(asking: Asking, row: Guard) -> Refusal:
    _present, value = asking.value(row.source)
    length = row.text.startswith("len(")
    actual = str(len(value)) if length and hasattr(value, "__len__") else str(type(value))
    expected = row.expected if length else "the type of the first call"
    return refusal(row, "length" if length else "type", expected, actual)
