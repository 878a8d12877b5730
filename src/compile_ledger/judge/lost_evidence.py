"""What could not be seen, contained and said; and what may not be concluded without it."""

from __future__ import annotations

import dataclasses

from compile_ledger.facts.arm import Arm

from .choose import COMPILED, RECORDED, Arms
from .document import Evidence, Finding
from .judged import Judged
from .words import count

RECORDING_FILE = "recording file"
"""``Lost.where`` of a fact that could not be written."""


def unless_lost(one: Judged, arms: Arms) -> Judged:
    """A level that holds only as far as its facts were kept: not measured where lines were lost.

    A lost line can be the one that says a function was switched off: its absence is not the
    fact of absence. A level that fails does so on facts that are there.
    """
    if one.level.status != "holds":
        return one
    lost = sum(_lines_lost(arms[name]) for name in (RECORDED, *COMPILED) if name in arms)
    if not lost:
        return one
    were = "line of the recording was lost" if lost == 1 else "lines of the recording were lost"
    why = f"{lost:,} {were}; what is left shows no failure: {one.level.why}"
    level = dataclasses.replace(one.level, status="not_measured", why=why)
    return dataclasses.replace(one, level=level)


def _lines_lost(arm: Arm) -> int:
    """Lines of the arm's recording that are damaged or missing, or could not be written."""
    unwritten = sum(lost.count for lost in arm.lost if lost.where == RECORDING_FILE)
    return max(unwritten, sum(lost.count for lost in arm.damage))


def lost_evidence(arms: Arms) -> tuple[Finding, ...]:
    """One note for each arm that lost evidence."""
    found = []
    for arm in arms.values():
        every = (*arm.lost, *arm.damage)
        if not every:
            continue
        times = sum(lost.count for lost in every)
        found.append(
            Finding(
                id=f"lost-evidence:{arm.name}",
                slug="lost-evidence",
                level="RUNS",
                severity="note",
                sentence=f"{count(times, 'piece')} of evidence lost in the {arm.name} arm: "
                f"{every[0].where}: {every[0].why}",
                count=times,
                evidence=tuple(
                    Evidence(lost.where, lost.why, lost.count, arm.name) for lost in every[:16]
                ),
            )
        )
    return tuple(found)
