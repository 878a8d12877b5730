"""The numbers of WORTH IT as rows of a table, and the names of those that are missing."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from compile_ledger.judge.document import Cost, Interval
from compile_ledger.render.words import (
    NOT_MEASURED,
    because,
    count,
    interval,
    listed,
    nanoseconds,
    ratio,
    seconds,
)

Row = tuple[str, str]
"""A name and its value in words; an empty value was not measured."""


def rows(cost: Cost) -> tuple[Row, ...]:
    """Every number that was measured, named with its clock."""
    return tuple(row for row in _every(cost) if row[1])


def missing(cost: Cost) -> str:
    """One sentence that names what was not measured and why; ``""`` when nothing is."""
    names = [name for name, value in _every(cost) if not value]
    if not names:
        return ""
    if not rows(cost):
        return because(NOT_MEASURED, cost.why)
    return because(f"Not measured: {listed(names)}", cost.why)


def _every(cost: Cost) -> Iterable[Row]:
    arm = f", arm {cost.compile_arm}" if cost.compile_arm else ""
    yield _spread("one eager call (CPU)", cost.eager_call, nanoseconds)
    yield _spread("one compiled call (CPU)", cost.compiled_call, nanoseconds)
    yield _spread("saving per call (CPU)", cost.saving_per_call, nanoseconds)
    yield _spread("compiled over eager (CPU)", cost.ratio, ratio)
    yield _spread("compiled over eager (wall)", cost.wall_ratio, ratio)
    yield _spread("noise: eager over eager (CPU)", cost.noise, ratio)
    yield f"calls that compiled (CPU{arm})", _or_empty(cost.compile_seconds, seconds)
    yield from _start("cold start", cost.cold_seconds, cost.cold_process_seconds,
                      cost.cold_break_even)  # fmt: skip
    yield from _start("warm start", cost.warm_seconds, cost.warm_process_seconds,
                      cost.warm_break_even)  # fmt: skip
    yield _spread("guard lookup of a steady call (CPU)", cost.guards.per_call, nanoseconds)
    yield _spread("each entry that refuses (CPU)", cost.guards.per_refusal, nanoseconds)
    if cost.horizon is not None:
        yield "horizon", f"{count(cost.horizon)} calls ({cost.horizon_source})"


def _spread(name: str, measured: Interval, word: Callable[[float | None], str]) -> Row:
    known = measured.value is not None or measured.why
    return name, interval(measured, word) if known else ""


def _or_empty(value: float | None, word: Callable[[float | None], str]) -> str:
    return "" if value is None else word(value)


def _start(
    name: str, total: float | None, process: float | None, even: float | None
) -> Iterable[Row]:
    part = "" if process is None else f", of which process and machine {seconds(process)}"
    yield f"{name} beyond eager (CPU)", "" if total is None else f"{seconds(total)}{part}"
    if total is not None:
        repaid = "never, or not resolved" if even is None else f"after {count(even)} calls"
        yield f"the region's share of a {name} is repaid", repaid
