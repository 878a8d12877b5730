"""Rows of arms: what each was, how it ended, its calls and its cost."""

from __future__ import annotations

from compile_ledger.facts.arm import Arm, Lost

from .choose import Arms
from .document import ArmRow, CallRow

MOST_CALLS = 2000
"""Calls that a row keeps: enough to draw, small enough to send."""


def arm_rows(arms: Arms) -> tuple[ArmRow, ...]:
    """One row for each arm, in the order in which they ran."""
    return tuple(_row(arm) for arm in arms.values())


def _row(arm: Arm) -> ArmRow:
    in_order = sorted(arm.calls, key=lambda call: call.at_ns)
    calls = tuple(
        CallRow(c.region, c.disposition, c.wall_ns, c.cpu_ns, c.index, c.graphs)
        for c in in_order[:MOST_CALLS]
    )
    counted = arm.counters.regions if arm.counters else ()
    return ArmRow(
        name=arm.name,
        change=arm.change,
        status=arm.status,
        why=arm.why,
        wall_seconds=arm.wall_ns / 1e9 if arm.wall_ns else None,
        cpu_seconds=arm.cpu_ns / 1e9 if arm.cpu_ns else None,
        regions=len(arm.regions),
        calls=calls,
        calls_total=max(len(arm.calls), sum(r.calls for r in counted)),
        peak_bytes=arm.peak_bytes,
        lost=tuple(_lost(lost) for lost in (*arm.lost, *arm.damage)),
    )


def _lost(lost: Lost) -> str:
    times = f" ({lost.count} times)" if lost.count > 1 else ""
    return f"{lost.where}: {lost.why}{times}"
