"""The diagnosis, what is unproven before it, and the whole result in one sentence."""

from __future__ import annotations

from collections.abc import Sequence

from .document import Diagnosis, ExperimentRow, Finding, Level, Unproven
from .judged import Judged
from .suggest import with_prefix


def diagnosis_of(levels: Sequence[Judged]) -> Diagnosis | None:
    """The first level that fails, and its leading finding."""
    first = next((one for one in levels if one.fails), None)
    if first is None:
        return None
    finding = next(f for f in first.findings if f.severity == "failure")
    return Diagnosis(
        level=finding.level,
        slug=finding.slug,
        sentence=finding.sentence,
        subject=finding.subject,
        axis=finding.axis,
        expected=finding.expected,
        actual=finding.actual,
        site=finding.site,
        finding=finding.id,
    )


def unproven_of(levels: Sequence[Judged], prefix: str) -> Unproven | None:
    """The first level before the failing one that lacks evidence.

    A level that is not asked (no command would supply it) is not unproven.
    """
    for one in levels:
        if one.fails:
            return None
        asked = bool(one.command) or one.level.status == "not_resolved"
        if asked and one.level.status != "holds":
            return Unproven(one.level.level, one.level.why, with_prefix(one.command, prefix))
    return None


def verdict_of(
    diagnosis: Diagnosis | None, levels: Sequence[Level], experiments: Sequence[ExperimentRow]
) -> str:
    """The whole result in one sentence."""
    if diagnosis:
        said = f"{_name(diagnosis.level)} fails: {diagnosis.sentence}"
        tested = _tested([row for row in experiments if row.level == diagnosis.level])
        return f"{said}; {tested}" if tested else said
    open_levels = [level for level in levels if level.status != "holds"]
    if not open_levels:
        return "all five levels hold"
    first = open_levels[0]
    words = "not resolved" if first.status == "not_resolved" else "not measured"
    held = [_name(level.level) for level in levels if level.status == "holds"]
    also = f" ({', '.join(held)} hold)" if held else ""
    return f"no level fails{also}; {_name(first.level)} {words}: {first.why}"


def _tested(experiments: Sequence[ExperimentRow]) -> str:
    """The experiment that says most: one in which the diagnosis held, else a refuted one."""
    by_outcome = {row.outcome: row.sentence for row in reversed(experiments)}
    return by_outcome.get("holds") or by_outcome.get("refuted", "")


def leading_finding(diagnosis: Diagnosis | None, findings: Sequence[Finding]) -> Finding | None:
    """The finding that the diagnosis rests on."""
    if diagnosis is None:
        return None
    return next((f for f in findings if f.id == diagnosis.finding), None)


def _name(level: str) -> str:
    return level.replace("_", " ")
