"""One live entry asked about a call of which some tensors are only described."""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet

from compile_ledger.facts.guard import Refusal
from compile_ledger.facts.what_if import EntryAnswer
from compile_ledger.observe.cache_line.leaves import Leaf, leaves
from compile_ledger.observe.cache_line.lookup import compile_id

from .live import Asking, ask_contained, dict_refusals
from .offline import answer_row
from .text import without_echoes

_LOCAL = re.compile(r"\bL\[['\"](\w+)['\"]\]")


def answer(asking: Asking, names: AbstractSet[str]) -> EntryAnswer:
    """Rows decide where a description is looked at, the runtime's guards elsewhere."""
    found: list[Refusal] = []
    unknown: list[str] = []
    for leaf in leaves(asking.entry):
        if _looks_at(leaf, names):
            for row in asking.rows(leaf):
                answer_row(row, asking.values, found, unknown)
        else:
            ask_contained(asking, leaf, found, unknown)
    found.extend(dict_refusals(asking))
    kept = tuple(without_echoes(found))
    return EntryAnswer(compile_id(asking.entry), not kept, kept, tuple(unknown))


def _looks_at(leaf: Leaf, names: AbstractSet[str]) -> bool:
    texts = leaf.parts() if leaf.relational else [leaf.source]
    return any(name in names for text in texts for name in _LOCAL.findall(text))
