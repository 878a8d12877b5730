"""The question asked of a saved cache line, without the program and without torch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from compile_ledger.facts.cache_line import CacheLine, CodeLine, Entry
from compile_ledger.facts.guard import Guard, Refusal
from compile_ledger.facts.nearest import nearest
from compile_ledger.facts.tensor_spec import TensorSpec
from compile_ledger.facts.what_if import EntryAnswer, WhatIf
from compile_ledger.observe.cache_line.state import State

from .arguments import offline_locals
from .expression import UnknownFormError
from .outcome import Situation, outcome
from .text import ask_row, without_echoes

_NOTE = "asked of a saved document: guards on objects and on the process are taken as holding"


def ask_saved(saved: CacheLine, args: Sequence[Any], kwargs: Mapping[str, Any]) -> WhatIf:
    """Which saved entry would take a call with these arguments.

    Tensors may be given as :class:`TensorSpec` or as anything with a tensor's attributes.
    Raises ``TypeError`` where the arguments do not fit the parameters.
    """
    root = saved.root
    given = [as_spec(value) for value in args]
    named = {name: as_spec(value) for name, value in kwargs.items()}
    values = offline_locals(root.parameters, given, named)
    answers = tuple(answer_rows(entry, root.guards_of(entry), values) for entry in root.entries)
    hit = next((answer.compile_id for answer in answers if answer.accepts), "")
    found = outcome(hit, _situation(root))
    return WhatIf(
        target=saved.target,
        code_object=root.name,
        next=found.next,
        why=found.why,
        hit=hit if found.next == "reuse" else "",
        limit=found.limit,
        nearest="" if hit else nearest(answers),
        answers=answers,
        notes=(_NOTE, *_left_out(root)),
    )


def _left_out(root: CodeLine) -> tuple[str, ...]:
    """What a folded line does not hold."""
    folded = root.folded + max((entry.folded for entry in root.entries), default=0)
    guards = f"{folded} guards of an entry are only counted there: taken as holding"
    entries = f"{root.more} further entries are only counted there: not asked"
    return (*([guards] if folded else []), *([entries] if root.more else []))


def _situation(root: CodeLine) -> Situation:
    state = State(root.state, root.since, root.state_why)
    return Situation(state, root.budget, entries=len(root.entries))


def answer_rows(entry: Entry, guards: Sequence[Guard], values: Mapping[str, Any]) -> EntryAnswer:
    """One saved entry's answer, by its guards."""
    if not entry.valid:
        return EntryAnswer(entry.compile_id, accepts=False, refusals=(gone(entry.invalid_why),))
    found: list[Refusal] = []
    unknown: list[str] = []
    for guard in guards:
        answer_row(guard, values, found, unknown)
    kept = tuple(without_echoes(found))
    return EntryAnswer(entry.compile_id, not kept, kept, tuple(unknown))


def answer_row(
    guard: Guard, values: Mapping[str, Any], found: list[Refusal], unknown: list[str]
) -> None:
    """Add one row's refusals to ``found``, or the row to ``unknown``."""
    try:
        found.extend(ask_row(guard, values))
    except (UnknownFormError, ArithmeticError, ValueError, RecursionError):
        unknown.append(guard.text)


def gone(why: str) -> Refusal:
    """The refusal of an entry whose guarded object was freed."""
    return Refusal("", "INVALIDATED", "validity", "a live object", "freed", text=why)


def as_spec(value: Any) -> Any:
    """A tensor as its description, looking into lists, tuples and dicts."""
    if type(value) in (list, tuple):
        return type(value)(as_spec(one) for one in value)
    if type(value) is dict:
        return {key: as_spec(one) for key, one in value.items()}
    if isinstance(value, TensorSpec) or not hasattr(value, "requires_grad"):
        return value
    return TensorSpec(
        tuple(value.shape), tuple(value.stride()), value.dtype, value.device, value.requires_grad
    )
