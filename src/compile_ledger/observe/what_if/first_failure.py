"""The runtime's own first failure, where asking every guard did not find it."""

from __future__ import annotations

from typing import Any

from compile_ledger.facts.guard import Refusal
from compile_ledger.observe.cache_line.predicates import parse
from compile_ledger.observe.cache_line.rows import as_guard

from .live import Asking
from .text import refusal


def told_by_runtime(asking: Asking, told: Any, found: list[Refusal]) -> list[Refusal]:
    """What ``check_verbose`` said, if no refusal was found; it is never dropped."""
    if found:
        return []
    text = next(iter(told.verbose_code_parts or ()), "a guard that gives no reason")
    return [refusal(as_guard("", "OTHER", parse(text), asking.code), "guard", text, "")]
