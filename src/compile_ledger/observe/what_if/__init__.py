"""What a call would do: asked of the guards, without the call and without a compile."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import CodeType
from typing import Any

from compile_ledger.facts.nearest import nearest
from compile_ledger.facts.what_if import EntryAnswer, WhatIf
from compile_ledger.observe.cache_line.attempts import attempts, frame_of
from compile_ledger.observe.cache_line.budget import budget_of
from compile_ledger.observe.cache_line.lookup import (
    compile_id,
    invalid_why,
    is_valid,
    raw_entries,
    root_manager,
)
from compile_ledger.observe.cache_line.reach import region_codes
from compile_ledger.observe.cache_line.state import root_state
from compile_ledger.observe.cache_line.target import Target, resolve

from . import described
from .arguments import described as described_names
from .arguments import live_locals
from .backends import backend_refusal
from .first_failure import told_by_runtime
from .live import Asking, refusals
from .offline import ask_saved, gone
from .outcome import Situation, disabled, is_fullgraph, outcome, stance

__all__ = ["ask", "ask_saved"]


def ask(thing: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> WhatIf:
    """What the next call of ``thing`` with these arguments would do.

    Guards on the state of the process (``no_grad``, autocast, modes) are asked as it is
    now: ask inside the same ``with``. Raises ``TypeError`` where the arguments do not fit.
    """
    import torch._dynamo  # noqa: F401  the private parts belong to it

    target = resolve(thing)
    values = live_locals(target, args, kwargs)
    raw = raw_entries(target.code, target.isolate_id)
    answers = tuple(_answer(entry, target, values) for entry in raw)
    hit = next((answer.compile_id for answer in answers if answer.accepts), "")
    found = outcome(hit, _situation(target, raw))
    return WhatIf(
        target=target.name,
        code_object=target.code.co_name,
        next=found.next,
        why=found.why,
        hit=hit if found.next == "reuse" else "",
        limit=found.limit,
        nearest="" if hit else nearest(answers),
        answers=answers,
        notes=_notes(values, target),
    )


def _situation(target: Target, raw: list[Any]) -> Situation:
    known = attempts()
    frame = frame_of(target.code, map(compile_id, raw), known)
    return Situation(
        state=root_state(target, frame, known),
        budget=budget_of(target.code, frame, target.context, target.isolate_id),
        entries=len(raw),
        stance=stance(),
        disabled=disabled(),
        fullgraph=is_fullgraph(target.context),
    )


def _answer(entry: Any, target: Target, values: Mapping[str, Any]) -> EntryAnswer:
    name = compile_id(entry)
    if not is_valid(entry):
        return EntryAnswer(name, accepts=False, refusals=(gone(invalid_why(entry)),))
    backend = backend_refusal(entry, target.context)
    if backend is not None:
        return EntryAnswer(name, accepts=False, refusals=(backend,))
    return answer_guards(entry, target.code, values)


def answer_guards(entry: Any, code: CodeType, values: Mapping[str, Any]) -> EntryAnswer:
    """The answer of an entry's guards, the runtime's own where every value is real."""
    name = compile_id(entry)
    names = described_names(values)
    if names:
        return described.answer(Asking(entry, code, values), names)
    told = root_manager(entry).check_verbose(dict(values))
    if told.result:
        return EntryAnswer(name, accepts=True)
    asking = Asking(entry, code, values)
    found, unknown = refusals(asking)
    first = told_by_runtime(asking, told, found)
    return EntryAnswer(name, accepts=False, refusals=(*first, *found), unknown=tuple(unknown))


def _notes(values: Mapping[str, Any], target: Target) -> tuple[str, ...]:
    notes = []
    if described_names(values):
        notes.append("described tensors are taken as plain dense ones without marks")
    inner = [code.co_name for code, _role in region_codes(target)[1:]]
    if inner:
        notes.append(
            f"only the root was asked; frames inside decide for themselves: {', '.join(inner[:4])}"
        )
    return tuple(notes)
