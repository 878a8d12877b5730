"""What one judge returns: a level, and the findings that it rests on."""

from __future__ import annotations

from dataclasses import dataclass

from .document import Finding, Level, LevelName, Status


@dataclass(frozen=True, slots=True)
class Judged:
    """One level judged. ``command`` would supply the evidence that is lacking."""

    level: Level
    findings: tuple[Finding, ...] = ()
    command: str = ""

    @property
    def fails(self) -> bool:
        """True when the level fails."""
        return self.level.status == "fails"


def judged(
    name: LevelName,
    status: Status,
    why: str,
    findings: tuple[Finding, ...] = (),
    command: str = "",
) -> Judged:
    """Make a judged level; ``why`` is one sentence."""
    ids = tuple(finding.id for finding in findings)
    return Judged(Level(name, status, why, ids), findings, command)


def failed(name: LevelName, findings: tuple[Finding, ...]) -> Judged:
    """Make a failing level: the first failure's sentence says why."""
    return judged(name, "fails", findings[0].sentence, findings)


def not_measured(
    name: LevelName, why: str, command: str = "", findings: tuple[Finding, ...] = ()
) -> Judged:
    """Make a level without evidence."""
    return judged(name, "not_measured", why, findings, command)
