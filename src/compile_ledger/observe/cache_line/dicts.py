"""Asks a guarded dict's own checks, type and length, which are in no leaf.

A clone that keeps only the way down to the dict is asked, so no counter moves.
"""

from __future__ import annotations

import re
from collections import OrderedDict, defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from .leaves import children, is_dict_manager
from .lookup import root_manager
from .predicates import Parsed, parse

DICT = "DICT_MANAGER"
_OWN = re.compile(r"(len\(|TYPE_MISMATCH)")
_LENGTH = re.compile(r"len\(.*\) (?:!=|==) (\d+)$")
_LOCAL = re.compile(r"L\['(\w+)'\]$")
_EMPTY: dict[str, Any] = {
    "<class 'dict'>": dict,
    "<class 'collections.OrderedDict'>": OrderedDict,
    "<class 'collections.defaultdict'>": defaultdict,
}


def dict_managers(entry: Any) -> Iterator[tuple[Any, frozenset[str]]]:
    """Each manager of a dict, with the sources on the way to it."""
    waiting: list[tuple[Any, tuple[str, ...]]] = [(root_manager(entry), ())]
    while waiting:
        manager, above = waiting.pop()
        way = (*above, manager.get_source())
        if is_dict_manager(manager):
            yield manager, frozenset(way)
        waiting.extend((child, way) for child in reversed(children(manager)))


def refused_by_dicts(entry: Any, values: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Source and text of each dict whose own check fails for these locals."""
    for manager, way in dict_managers(entry):
        source = manager.get_source()
        text = _own_failure(root_manager(entry), way, values)
        if source in text:
            yield source, text


def _own_failure(root: Any, way: frozenset[str], values: Mapping[str, Any]) -> str:
    clone = getattr(root, "clone_manager", None)
    alone = None if clone is None else clone(lambda one: one.get_source() in way)
    if alone is None:
        return ""
    told = alone.check_verbose(dict(values))
    text = next(iter(told.verbose_code_parts or ()), "")
    return "" if told.result or not _OWN.match(text) else text


def dict_lengths(entry: Any) -> Iterator[tuple[str, Parsed]]:
    """The length that each guarded dict among the arguments must have.

    The runtime tells it only when it refuses, so a dict of another length is shown it.
    """
    for manager, way in dict_managers(entry):
        local = _LOCAL.match(manager.get_source())
        made = _EMPTY.get(str(getattr(manager, "get_type_of_guarded_value", str)()))
        if local is None or made is None:
            continue
        text = _own_failure(root_manager(entry), way, {local.group(1): made()})
        length = _LENGTH.match(text)
        number = length.group(1) if length else "0"
        yield manager.get_source(), parse(f"len({manager.get_source()}) == {number}")
