"""Reasons of recompiles as evidence, and other pieces that findings of STABLE share."""

from __future__ import annotations

from collections.abc import Iterable

from compile_ledger.facts.compile import Compile
from compile_ledger.judge.document import Evidence
from compile_ledger.judge.instruments import instrument
from compile_ledger.judge.view import View
from compile_ledger.judge.words import count


def entry_count(number: int) -> str:
    """``1 entry``, ``8 entries``."""
    return count(number, "entry", "entries")


def quoted(view: View, events: Iterable[Compile]) -> tuple[Evidence, ...]:
    """The newest entry's reason of each compile, as the runtime words it."""
    tool = instrument("recompile reasons", view.arm)
    texts = [event.reasons[0] for event in events if event.reasons]
    return tuple(Evidence(tool, text, arm=view.arm.name) for text in texts[:16])


def on_same_code(view: View, event: Compile) -> list[Compile]:
    """Every compile on the code object of ``event``, itself included."""
    return [c for c in view.compiles if c.code_object == event.code_object]
