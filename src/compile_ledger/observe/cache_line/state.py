"""Whether a code object is on, off for good, or runs only what it has.

torch 2.13 keeps the entries of a code object that it skips for good, so the entries
alone mislead. A record without a graph whose compile id has no entry tells.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import CodeType

from compile_ledger.facts.cache_line import LineState

from .attempts import Attempt, attempts_made, numbers
from .budget import budget_of
from .lookup import compile_id, raw_entries
from .target import Target


@dataclass(frozen=True, slots=True)
class State:
    """A code object's state, the attempt that made it so, and why."""

    state: LineState
    since: str = ""
    why: str = ""


def state_of(
    frame: int | None, entry_ids: list[str], known: list[Attempt], *, fullgraph: bool = False
) -> State:
    """Judge from the attempts of one frame that left no entry.

    A region with ``fullgraph=True`` raises where another would be switched off.
    """
    if frame is None:
        return State("on")
    kept = numbers(entry_ids)
    fruitless = [a for a in known if a.frame == frame and a.number not in kept]
    for attempt in fruitless:
        if attempt.hit_a_limit and not fullgraph:
            return State("run-only", attempt.compile_id, _limit_why(attempt))
        if attempt.switches_off and not fullgraph:
            return State("off", attempt.compile_id, _off_why(attempt))
    return _unless_lost(frame, kept | {a.number for a in fruitless})


def code_state(code: CodeType, target: Target, frame: int | None, known: list[Attempt]) -> State:
    """The state of a code object as the region would meet it."""
    entries = [*raw_entries(code), *raw_entries(code, target.isolate_id)]
    if not entries and frame is None and _skipped_by_rule(code):
        return State("off", why="torch's own rules skip this file or function")
    fullgraph = bool(getattr(target.context, "fullgraph", False))
    found = state_of(frame, [compile_id(entry) for entry in entries], known, fullgraph=fullgraph)
    if found.state == "run-only" and target.isolate_id != -1:
        # The attempts of all buckets have one numbering: another one's may have hit the limit.
        budget = budget_of(code, frame, target.context, target.isolate_id)
        return State("on") if budget.left else found
    return found


def _skipped_by_rule(code: CodeType) -> bool:
    from torch._dynamo import trace_rules

    check = getattr(trace_rules, "check", None)
    return check is not None and bool(check(code))


def root_state(target: Target, frame: int | None, known: list[Attempt]) -> State:
    """The state of a region's root."""
    return code_state(target.code, target, frame, known)


def _unless_lost(frame: int, accounted: set[int]) -> State:
    made = attempts_made(frame) or 0
    lost = sorted(set(range(made)) - accounted)
    if not lost:
        return State("on")
    first = f"{frame}/{lost[0]}"
    why = "the runtime no longer keeps the record of an attempt that left no entry"
    return State("unknown", first, why)


def _limit_why(attempt: Attempt) -> str:
    return attempt.fail_reason.partition("\n")[0] or "a recompile limit was hit"


def _off_why(attempt: Attempt) -> str:
    reason = attempt.fail_reason.partition("\n")[0]
    return reason or "the trace found no tensor operation to compile"
