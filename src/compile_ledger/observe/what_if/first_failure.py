"""The runtime's own first failure: of a call that was refused, and where asking found none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from compile_ledger.facts.guard import Refusal
from compile_ledger.observe.cache_line.lookup import compile_id, raw_entries, root_manager
from compile_ledger.observe.cache_line.predicates import parse
from compile_ledger.observe.cache_line.rows import as_guard
from compile_ledger.observe.cache_line.target import resolve

from .arguments import live_locals
from .live import Asking
from .text import refusal


def told_by_runtime(asking: Asking, told: Any, found: list[Refusal]) -> list[Refusal]:
    """What ``check_verbose`` said, if no refusal was found; it is never dropped."""
    if found:
        return []
    text = next(iter(told.verbose_code_parts or ()), "a guard that gives no reason")
    return [refusal(as_guard("", "OTHER", parse(text), asking.code), "guard", text, "")]


def first_refusals(thing: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[str, ...]:
    """For each entry of the root, the guard that refuses these arguments, as torch words it.

    Empty where an entry takes the call. Neither counts a refusal nor reorders guards.
    """
    target = resolve(thing)
    values = live_locals(target, args, kwargs)
    found = []
    for entry in raw_entries(target.code, target.isolate_id):
        told = root_manager(entry).check_verbose(dict(values))
        if told.result:
            return ()
        text = next(iter(told.verbose_code_parts or ()), "a guard that gives no reason")
        found.append(f"{compile_id(entry)}: {text}"[:2000])
    return tuple(found)
