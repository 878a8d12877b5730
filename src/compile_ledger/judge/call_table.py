"""Calls one by one: what varied, what became of each, which entry took it or why none did."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from compile_ledger.facts.arm import Arm
from compile_ledger.facts.calls import Call, Disposition
from compile_ledger.facts.compile import Compile

from .choose import EAGER, Arms, deciding_stability
from .inputs import brought, varying
from .stable.causes import by_name, every_failure
from .stable.values import short
from .view import View, look


@dataclass(frozen=True, slots=True)
class CallLine:
    """One call of a region. Times are CPU nanoseconds; None: not measured."""

    index: int
    varied: tuple[str, ...]
    """``idx 1x35``: what not every call brought alike; in whole, where nothing varied."""
    disposition: Disposition | None
    eager_ns: int | None
    compiled_ns: int
    took: str
    """The entry that ran, or the entries made, by compile id; empty: none ran."""
    refusals: tuple[str, ...]
    """Each guard that refused, by entry, with both values, where the call reached Dynamo."""
    guards: tuple[str, ...] = ()
    """The same as the runtime words it."""


@dataclass(frozen=True, slots=True)
class CallTable:
    """The calls of one region in the arm that decided, and the totals over them."""

    region: int
    target: str
    arm: str
    calls: tuple[CallLine, ...]
    compiled_ns: int
    eager_ns: int | None
    """Over the same calls; None: not every one of them ran in the eager arm."""
    unseen: int = 0
    """Calls of the arm that were counted and not kept apart."""


def call_tables(arms: Arms) -> tuple[CallTable, ...]:
    """A table for each region whose calls were kept apart, in the arm that decided."""
    arm = deciding_stability(arms)
    if arm is None:
        return ()
    view = look(arm)
    eager = _eager(arms.get(EAGER))
    return tuple(
        _table(view, region, calls, eager) for region, calls in view.calls.items() if calls
    )


def _eager(arm: Arm | None) -> dict[tuple[int, int], int]:
    return {(c.region, c.index): c.cpu_ns for c in arm.calls} if arm else {}


def _table(
    view: View, region: int, calls: tuple[Call, ...], eager: dict[tuple[int, int], int]
) -> CallTable:
    names = varying(calls)
    met: defaultdict[int, list[Compile]] = defaultdict(list)
    for event in view.compiles_of(region):
        if event.call is not None and event.outcome != "skipped":
            met[event.call].append(event)
    lines = tuple(
        CallLine(
            index=call.index,
            varied=tuple(f"{n} {v}" for n, v in brought(call) if n in names or not names),
            disposition=call.disposition,
            eager_ns=eager.get((region, call.index)),
            compiled_ns=call.cpu_ns,
            took=_took(call, met[call.index]),
            refusals=tuple(_refusals(met[call.index])),
            guards=tuple(reason for event in met[call.index] for reason in event.reasons),
        )
        for call in calls
    )
    known = [line.eager_ns for line in lines if line.eager_ns is not None]
    return CallTable(
        region=region,
        target=view.target(region),
        arm=view.arm.name,
        calls=lines,
        compiled_ns=sum(call.cpu_ns for call in calls),
        eager_ns=sum(known) if len(known) == len(lines) else None,
        unseen=view.length(region) - len(calls),
    )


def _took(call: Call, events: list[Compile]) -> str:
    """``0/1``, ``made 0/2``: entries that ran, those that were compiled in this call so said."""
    made = [event.compile_id for event in events if event.kept]
    ran = [key.partition(":")[2] or key for key in call.runs]
    served = [name for name in ran if name not in made]
    parts = [f"made {', '.join(made)}"] if made else []
    return "; ".join([*([", ".join(served)] if served else []), *parts])


def _refusals(events: list[Compile]) -> Iterator[str]:
    for event in events:
        for failure in every_failure(event):
            entry = f"{failure.entry}: " if failure.entry else ""
            axis = f" axis {failure.axis}" if failure.axis is not None else ""
            name = by_name(failure)
            if name and failure.expected and failure.actual:
                actual, expected = short(failure.actual), short(failure.expected)
                yield f"{entry}{name}{axis} is {actual}, not {expected}"
            else:
                said = failure.text.partition("  # ")[0].removeprefix(entry)
                yield f"{entry}{said}"
