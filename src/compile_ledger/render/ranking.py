"""Findings grouped by kind and ranked: failures first, then by what they cost."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeVar

from compile_ledger.judge.document import Finding, LevelName, Severity
from compile_ledger.judge.slugs import SLUGS

from .words import counted, seconds

Number = TypeVar("Number", int, float)


@dataclass(frozen=True, slots=True)
class Group:
    """The findings of one kind. ``seconds`` and ``calls`` are None: not measured."""

    slug: str
    title: str
    level: LevelName
    severity: Severity
    findings: tuple[Finding, ...]
    count: int
    seconds: float | None
    calls: int | None
    ignorable: str
    """Why a reader may pass over the group; ``""`` when it should be read."""

    @property
    def pointer(self) -> str:
        """Where a failure of this kind is explained; ``""`` for notes and unknown kinds."""
        explained = self.severity == "failure" and self.slug in SLUGS
        return f"docs/findings.md#{self.slug}" if explained else ""

    @property
    def price(self) -> str:
        """What the group cost, in words: ``3.64 s CPU, 4 calls``; ``""`` when unknown."""
        parts = [] if self.seconds is None else [f"{seconds(self.seconds)} CPU"]
        parts += [f"{counted(self.calls, 'call')} not fully compiled"] if self.calls else []
        return ", ".join(parts)


def groups(findings: Iterable[Finding]) -> tuple[Group, ...]:
    """Groups by slug and severity: failures first, then seconds, then calls, falling."""
    found: dict[tuple[str, Severity], list[Finding]] = {}
    for finding in findings:
        found.setdefault((finding.slug, finding.severity), []).append(finding)
    return tuple(sorted((_group(members) for members in found.values()), key=_rank))


def _group(members: list[Finding]) -> Group:
    first = members[0]
    kind = SLUGS.get(first.slug)
    ranked = sorted(members, key=lambda f: (-(f.cost.seconds or 0.0), -(f.cost.calls or 0)))
    return Group(
        slug=first.slug,
        title=kind.title if kind else first.slug,
        level=first.level,
        severity=first.severity,
        findings=tuple(ranked),
        count=sum(finding.count for finding in members),
        seconds=sum(paid) if (paid := _known(f.cost.seconds for f in members)) else None,
        calls=sum(lost) if (lost := _known(f.cost.calls for f in members)) else None,
        ignorable=kind.ignorable if kind and first.severity == "note" else "",
    )


def _known(values: Iterable[Number | None]) -> list[Number]:
    return [value for value in values if value is not None]


def _rank(group: Group) -> tuple[bool, bool, float, int, str]:
    note = group.severity == "note"
    return note, bool(group.ignorable), -(group.seconds or 0.0), -(group.calls or 0), group.slug
