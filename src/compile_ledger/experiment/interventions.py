"""Experiments that need no edit of the user's code: one change each, and what it tests.

An intervention is run only where a finding names the mechanism that it could
affect. DESIGN section 7 and docs/experiments.md say which works for what.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from compile_ledger.facts.region import Region
from compile_ledger.judge.document import Finding


@dataclass(frozen=True)
class Intervention:
    """One change to one arm."""

    name: str
    change: str
    """In words, as the report shows it."""
    tests: str
    """The mechanism that the outcome could refute."""
    overrides: dict[str, Any] = field(default_factory=dict)
    """Keyword arguments of ``torch.compile`` to replace."""
    env: dict[str, str] = field(default_factory=dict)


Maker = Callable[[Finding, Region], Intervention | None]


def _default_policy(finding: Finding, region: Region) -> Intervention | None:
    """Where ``dynamic=False`` forbids it, let the default policy generalise."""
    if region.compile_kwargs.get("dynamic") != "False":
        return None
    return Intervention(
        name="default-policy",
        change="dynamic=False -> the default (dynamic=None)",
        tests=_shape_mechanism(finding),
        overrides={"dynamic": None},
    )


def _mark_dimension(finding: Finding, region: Region) -> Intervention | None:
    """Mark the proved dimension, and no other, dynamic from the first compile."""
    del region
    source = source_of(finding.subject)
    if finding.axis is None or not source:
        return None
    value = f"{source}:{finding.axis}"
    return Intervention(
        name="mark-dimension",
        change=f'TORCH_COMPILE_DYNAMIC_SOURCES="{value}"',
        tests=_shape_mechanism(finding),
        env={"TORCH_COMPILE_DYNAMIC_SOURCES": value},
    )


def _shape_mechanism(finding: Finding) -> str:
    return f"the size of {finding.subject} at axis {finding.axis} is specialised at every new value"


def source_of(subject: str) -> str:
    """The guard source, ``L['x']``, of a subject as the runtime's texts name it.

    torch 2.13 prints ``x`` for ``L['x']``, and ``args[0]`` for ``L['args'][0]``.
    """
    if not subject or subject.startswith(("L[", "G[")):
        return subject
    head = subject
    for at, character in enumerate(subject):
        if character in ".[":
            head = subject[:at]
            break
    return f"L['{head}']{subject[len(head) :]}" if head.isidentifier() else ""


_BY_SLUG: dict[str, tuple[Maker, ...]] = {
    "recompile-shape": (_default_policy, _mark_dimension),
}
"""For each finding, what could test it, the smallest first."""


def interventions_for(finding: Finding, region: Region) -> list[Intervention]:
    """What could refute ``finding``, the smallest change first; empty: nothing without an edit."""
    made = (maker(finding, region) for maker in _BY_SLUG.get(finding.slug, ()))
    return [intervention for intervention in made if intervention is not None]
