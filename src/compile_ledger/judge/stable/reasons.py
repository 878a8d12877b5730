"""Reasons of recompiles as evidence, and other pieces that findings of STABLE share."""

from __future__ import annotations

from collections.abc import Iterable

from compile_ledger.facts.compile import Compile
from compile_ledger.judge.classify_guard import KINDS, GuardFailure
from compile_ledger.judge.document import Evidence
from compile_ledger.judge.instruments import instrument
from compile_ledger.judge.view import View
from compile_ledger.judge.words import count, listed

from .causes import by_name, failures_of


def entry_count(number: int) -> str:
    """``1 entry``, ``8 entries``."""
    return count(number, "entry", "entries")


def quoted(view: View, events: Iterable[Compile]) -> tuple[Evidence, ...]:
    """The newest entry's reason of each compile, as the runtime words it."""
    tool = instrument("recompile reasons", view.arm)
    texts = [event.reasons[0] for event in events if event.reasons]
    return tuple(Evidence(tool, text, arm=view.arm.name) for text in texts[:16])


def against_nearest(view: View, events: Iterable[Compile]) -> tuple[Evidence, ...]:
    """For each compile all in which its call differed from the nearest entry, both values."""
    tool = instrument("guards asked at the miss", view.arm)
    asked = [event for event in events if event.answers][:16]
    return tuple(Evidence(tool, text, arm=view.arm.name) for text in map(_differing, asked) if text)


def _differing(event: Compile) -> str:
    found = [one for one in failures_of(event) if one.actual]
    if not found:
        return ""
    said = [f"{_what(one)}: {one.expected} -> {one.actual}" for one in found]
    call = "a call" if event.call is None else f"call {event.call}"
    return f"{call} against {found[0].entry}, the nearest entry: {listed(said, 8)}"


def _what(one: GuardFailure) -> str:
    axis = "" if one.axis is None else f" {one.kind}[{one.axis}]"
    return f"{by_name(one)}{axis or f' ({KINDS[one.kind].title})'}"


def on_same_code(view: View, event: Compile) -> list[Compile]:
    """Every compile on the code object of ``event``, itself included."""
    return [c for c in view.compiles if c.code_object == event.code_object]
