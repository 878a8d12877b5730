"""The note ``lost-evidence``: what could not be seen, contained and said."""

from __future__ import annotations

from .choose import Arms
from .document import Evidence, Finding
from .words import count


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
