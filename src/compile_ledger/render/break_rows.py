"""A graph break in words: how often it runs, and what it costs."""

from __future__ import annotations

from compile_ledger.judge.document import BreakCost, BreakRow

from .words import NOT_MEASURED, because, interval, nanoseconds, three_digits


def per_call(row: BreakRow) -> str:
    """How often the break is executed in one call, or that it was not measured."""
    return NOT_MEASURED if row.per_call is None else three_digits(row.per_call)


def break_cost(cost: BreakCost) -> str:
    """CPU per call with its 95% interval, or why there is none."""
    if cost.cpu_ns is None:
        return because(NOT_MEASURED, cost.why)
    said = f"{nanoseconds(cost.cpu_ns)} CPU per call{_span(cost)}"
    return "; ".join([said, *break_cost_notes(cost)])


def _span(cost: BreakCost) -> str:
    if cost.low_ns is None or cost.high_ns is None:
        return ""
    return f" [{nanoseconds(cost.low_ns)} to {nanoseconds(cost.high_ns)}]"


def break_cost_notes(cost: BreakCost) -> list[str]:
    """What qualifies a measured cost: inside the noise, shared, the A/A difference."""
    notes = [f"not resolved: {cost.unresolved}"] if cost.unresolved else []
    notes += [f"{cost.together} breaks together"] if cost.together > 1 else []
    notes += [f"with {cost.includes}"] if cost.includes else []
    known = cost.noise.value is not None
    return [*notes, *([f"A/A {interval(cost.noise, nanoseconds)}"] if known else [])]
