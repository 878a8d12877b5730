"""Reads the cache line of a region: entries, guards, state, budget. Changes nothing."""

from __future__ import annotations

from types import CodeType
from typing import Any

from compile_ledger.facts.cache_line import CacheLine, CodeLine, Role

from .attempts import Attempt, attempts, frame_of
from .budget import budget_of
from .entry import as_entry
from .lookup import compile_id, raw_entries
from .parameters import parameters
from .reach import region_codes
from .state import code_state
from .target import Target, resolve

__all__ = ["read_cache_line"]


def read_cache_line(thing: Any) -> CacheLine:
    """The cache lines of what ``torch.compile`` returned, or of a plain function.

    Raises ``TypeError`` where there is no Python code object behind ``thing``.
    """
    import torch
    import torch._dynamo  # the private parts below belong to it

    target = resolve(thing)
    known = attempts()
    lines = [_line(code, role, target, known) for code, role in region_codes(target)]
    shown = lines[:1] + [line for line in lines[1:] if line.entries or line.state == "off"]
    return CacheLine(target.name, tuple(shown), str(torch.__version__), _notes(target, shown[0]))


def _line(code: CodeType, role: Role, target: Target, known: list[Attempt]) -> CodeLine:
    raw = raw_entries(code, target.isolate_id)
    ids = [compile_id(entry) for entry in raw]
    frame = frame_of(code, ids, known)
    same_file = code.co_filename == target.code.co_filename
    scope = target.function.__globals__ if same_file else {}
    state = code_state(code, target, frame, known)
    return CodeLine(
        name=code.co_name,
        file=code.co_filename,
        line=code.co_firstlineno,
        role=role,
        entries=tuple(as_entry(entry, code, known, scope) for entry in raw),
        state=state.state,
        since=state.since,
        state_why=state.why,
        budget=budget_of(code, frame, target.context, target.isolate_id),
        parameters=parameters(target) if role == "root" else (),
    )


def _notes(target: Target, root: CodeLine) -> tuple[str, ...]:
    notes = []
    if root.file.endswith("external_utils.py") and root.name == "inner":
        notes.append(
            "torch compiles library modules, partials and callable objects through this one"
            " code object: unrelated regions share these entries and their limit"
        )
    if target.context is None:
        notes.append("asked of a function that is not compiled itself: entries of every region")
    return tuple(notes)
