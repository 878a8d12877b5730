"""Experiments that need no edit of the user's code: one change each, and what it tests.

An intervention is run only where a finding names the mechanism that it could
affect. docs/experiments.md says what each showed where it was measured.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from compile_ledger.facts.region import Region
from compile_ledger.judge.document import Finding
from compile_ledger.judge.experiments import Expected

from .sources import is_attribute, source_of

HIGH_LIMIT = 64
"""The limit of the experiment that raises it: eight times the default."""


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
    settings: dict[str, Any] = field(default_factory=dict)
    """Settings of ``torch._dynamo.config`` to change."""
    expects: Expected = "settles"
    """What happens when the diagnosis is right."""


Maker = Callable[[Finding, Region], Intervention | None]


def _default_policy(finding: Finding, region: Region) -> Intervention | None:
    """Where ``dynamic=False`` forbids it, let the default policy generalise."""
    if region.compile_kwargs.get("dynamic") != "False":
        return None
    return Intervention(
        name="default-policy",
        change="dynamic=False -> the default (dynamic=None)",
        tests=_specialised(finding),
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
        tests=_specialised(finding),
        env={"TORCH_COMPILE_DYNAMIC_SOURCES": value},
    )


def _free_parameters(finding: Finding, region: Region) -> Intervention:
    """Parameters are static by default, and hold every size that meets theirs."""
    del region
    return Intervention(
        name="free-parameter-shapes",
        change="torch._dynamo.config.force_parameter_static_shapes = False",
        tests=f"a parameter's static shape fixes the size of {finding.subject}",
        settings={"force_parameter_static_shapes": False},
    )


def _free_module_ints(finding: Finding, region: Region) -> Intervention | None:
    """Integer attributes of modules are constants by default."""
    del region
    if not is_attribute(finding.subject):
        return None
    return Intervention(
        name="free-module-ints",
        change="torch._dynamo.config.allow_unspec_int_on_nn_module = True",
        tests=_specialised(finding),
        settings={"allow_unspec_int_on_nn_module": True},
    )


def _isolate(finding: Finding, region: Region) -> Intervention:
    """Give each region a cache line of its own."""
    del region
    return Intervention(
        name="isolate-recompiles",
        change="torch.compile(isolate_recompiles=True)",
        tests=f"the regions that enter {finding.subject} fill each other's cache line",
        overrides={"isolate_recompiles": True},
    )


def _raise_limit(finding: Finding, region: Region) -> Intervention:
    """Make room: shows that the limit sent calls to eager, and that values keep coming."""
    del region
    return Intervention(
        name="raise-limit",
        change=f"torch._dynamo.config.recompile_limit = {HIGH_LIMIT}",
        tests=f"each new value of {finding.subject or 'what the guard checks'} makes an entry",
        settings={"recompile_limit": HIGH_LIMIT},
        expects="no_limit",
    )


def _specialised(finding: Finding) -> str:
    axis = "" if finding.axis is None else f"the size at axis {finding.axis} of "
    return f"{axis}{finding.subject} is specialised at every new value"


_LIMITED = (_raise_limit,)
_BY_SLUG: dict[str, tuple[Maker, ...]] = {
    "recompile-shape": (_default_policy, _mark_dimension, _free_parameters),
    "recompile-constant-int": (_default_policy, _free_module_ints, _raise_limit),
    "recompile-constant-float": (_default_policy, _raise_limit),
    "shared-line": (_isolate, _raise_limit),
}
"""For each finding, what could test it, the smallest first."""

_NO_TEST = (
    "recompile-unnamed",
    "recompile-error",
    "recompile-other",
    "recompile-concurrent",
)


def makers_for(slug: str) -> tuple[Maker, ...]:
    """What could test a finding of this kind; every other recompile can meet a higher limit."""
    other = slug.startswith("recompile-") and slug not in _NO_TEST
    return _BY_SLUG.get(slug, _LIMITED if other else ())


def interventions_for(
    finding: Finding, region: Region, *, limited: bool = True, shared: bool = False
) -> list[Intervention]:
    """What could refute ``finding``, the smallest change first; empty: nothing without an edit.

    ``limited``: whether the finding's code hit a limit, so that a higher one could tell.
    ``shared``: whether several regions enter its code, and fill one line together.
    """
    makers = [maker for maker in makers_for(finding.slug) if limited or maker is not _raise_limit]
    if shared and makers and _isolate not in makers:
        makers = [_isolate, *makers]
    made = (maker(finding, region) for maker in makers)
    return [intervention for intervention in made if intervention is not None]
