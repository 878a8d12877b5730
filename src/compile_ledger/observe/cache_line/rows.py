"""An entry's guards as rows."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from types import CodeType
from typing import Any, NamedTuple

from compile_ledger.facts.guard import Guard
from compile_ledger.facts.place import Place

from .dicts import DICT, dict_lengths
from .leaves import Leaf, leaves
from .predicates import Parsed, parse


class Held(NamedTuple):
    """What the manager of a guard adds to the guard's text."""

    value_type: str = ""
    failures: int | None = None


_BARE = Held()


def rows(entry: Any, code: CodeType) -> tuple[Guard, ...]:
    """Every guard of an entry as a row; the lines of ``code`` get its whole file name."""
    found: list[Guard] = []
    for leaf in leaves(entry):
        held = Held() if leaf.epilogue else _held(leaf.manager)
        found.extend(
            as_guard(leaf.source, leaf.kind, parsed, code, held) for parsed in parsed_parts(leaf)
        )
    lengths = dict_lengths(entry)
    found.extend(as_guard(source, DICT, parsed, code, Held("dict")) for source, parsed in lengths)
    return tuple(found)


def parsed_parts(leaf: Leaf) -> list[Parsed]:
    """A leaf's texts, taken apart."""
    parsed = map(parse, leaf.parts())
    return list(map(as_relation, parsed) if leaf.epilogue else parsed)


def as_relation(parsed: Parsed) -> Parsed:
    """A guard over several sizes or numbers has no one side that is expected."""
    return replace(parsed, predicate="relation", expected=parsed.text)


def as_guard(source: str, kind: str, parsed: Parsed, code: CodeType, held: Held = _BARE) -> Guard:
    """A parsed text as a row."""
    return Guard(
        source=source,
        kind=kind,
        predicate=parsed.predicate,
        expected=parsed.expected,
        text=parsed.text,
        value_type=held.value_type,
        user_line=parsed.user_line,
        place=whole_place(parsed.place, code.co_filename),
        hint=parsed.hint,
        fail_count=held.failures,
        tensor=parsed.tensor,
    )


@lru_cache(maxsize=4096)
def whole_place(place: Place | None, file: str) -> Place | None:
    """The runtime prints the last characters of a file's path only; give them back."""
    if place is None or not file.endswith(place.file):
        return place
    return replace(place, file=file)


def _held(manager: Any) -> Held:
    typed = getattr(manager, "get_type_of_guarded_value", None)
    counts = getattr(manager, "fail_count", None)
    return Held(
        "" if typed is None else _type_name(str(typed())),
        None if counts is None else int(counts()),
    )


@lru_cache(maxsize=4096)
def _type_name(text: str) -> str:
    """``<class 'torch.Tensor'>`` as ``torch.Tensor``."""
    return text[8:-2] if text.startswith("<class '") and text.endswith("'>") else text
