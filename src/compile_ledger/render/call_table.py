"""Calls one by one in columns, for a terminal of 80 columns."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from compile_ledger.judge.call_table import CallLine, CallTable

from .dispositions import LOOKS
from .words import clean, counted, cut_right, nanoseconds

_WIDTH = 80
_VARIED = 26
_TOOK = 20
_MOST_REFUSALS = 3
_INDENT = " " * 10


def call_table(table: CallTable, *, guards: bool = False) -> Iterator[str]:
    """Lines of text; ``guards``: with the texts of the guards, as the runtime words them."""
    yield cut_right(
        clean(f"{table.target}, {table.arm} arm: {counted(len(table.calls), 'call')}"), _WIDTH
    )
    yield f"{'call':>7}  {'what varied':<{_VARIED}} {'':1} {'eager':>9} {'compiled':>9}  entry"
    repeated: CallLine | None = None
    more = 0
    for line in table.calls:
        if repeated is not None and _alike(repeated, line):
            more += 1
            continue
        yield from _alikes(more)
        repeated, more = line, 0
        yield from _call(line, guards=guards)
    yield from _alikes(more)
    yield from _totals(table)


def _alike(one: CallLine, other: CallLine) -> bool:
    """Whether a call says nothing that the one before it did not: then they are counted."""
    return other.disposition == "reused" and (one.varied, one.took) == (other.varied, other.took)


def _alikes(number: int) -> Iterator[str]:
    if number:
        yield f"{_INDENT}and {counted(number, 'call')} more, reused alike"


def _call(line: CallLine, *, guards: bool) -> Iterator[str]:
    letter = LOOKS[line.disposition].letter if line.disposition else "-"
    eager = "" if line.eager_ns is None else nanoseconds(line.eager_ns)
    varied = cut_right(clean(", ".join(line.varied)), _VARIED)
    head = f"{line.index:>7,}  {varied:<{_VARIED}} {letter} {eager:>9} "
    took = cut_right(clean(line.took or "none"), _TOOK)
    yield f"{head}{nanoseconds(line.compiled_ns):>9}  {took}"
    if guards:
        for text in line.guards:
            yield from _wrapped(text)
        return
    for text in line.refusals[:_MOST_REFUSALS]:
        yield from _wrapped(f"refused by {text}")
    left = len(line.refusals) - _MOST_REFUSALS
    if left > 0:
        yield f"{_INDENT}and by {counted(left, 'other guard')}: --guards shows all"


def _wrapped(text: str) -> Sequence[str]:
    return textwrap.wrap(
        clean(text), _WIDTH, initial_indent=_INDENT, subsequent_indent=_INDENT + "  "
    )


def _totals(table: CallTable) -> Iterator[str]:
    eager = "not measured" if table.eager_ns is None else nanoseconds(table.eager_ns)
    yield f"  total: eager {eager}, compiled {nanoseconds(table.compiled_ns)} (CPU)"
    if table.unseen > 0:
        yield f"  {counted(table.unseen, 'call')} more were counted and not kept apart"
