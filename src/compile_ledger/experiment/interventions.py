"""Experiments that need no edit of the user's code: one change each, and what it tests.

An intervention is run only where a finding names the mechanism that it could
affect. docs/experiments.md says what each showed where it was measured.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from compile_ledger.facts.region import Region
from compile_ledger.judge.document import CauseRow, Finding
from compile_ledger.judge.experiments import Expected

from .sources import is_attribute, source_of
from .spec import InPlace

HIGH_LIMITS = {"recompile_limit": 64, "accumulated_recompile_limit": 2048}
"""The limits of the experiments that raise them: eight times the defaults."""
_OLDER = {
    "cache_size_limit": "recompile_limit",
    "accumulated_cache_size_limit": "accumulated_recompile_limit",
}


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
    in_place: InPlace = ""


IN_PLACE = (
    Intervention(
        name="compile-in-place",
        change="module.compile() instead of torch.compile(module)",
        tests="the calls go to the module itself, not to what torch.compile returned",
        in_place="module",
    ),
    Intervention(
        name="compile-forward",
        change="module.forward = torch.compile(module.forward) instead of torch.compile(module)",
        tests="the calls go to the module's forward, not to what torch.compile returned",
        in_place="forward",
    ),
)
"""For calls that go round a module's compiled wrapper."""

Maker = Callable[[Finding, Region], Intervention | None]


def _default_policy(finding: Finding, region: Region) -> Intervention | None:
    """Where ``dynamic=False`` forbids it, let the default policy generalise.

    Also where sizes or numbers are not the leading cause: only a run shows what is left.
    """
    if region.compile_kwargs.get("dynamic") != "False":
        return None
    absorbed = (one for one in finding.causes if one.slug in _ABSORBED)
    named = finding if finding.slug in _ABSORBED else next(absorbed, None)
    if named is None:
        return None
    return Intervention(
        name="default-policy",
        change="dynamic=False -> the default (dynamic=None)",
        tests=_specialised(named),
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


def _raise_limit(finding: Finding, limit: str) -> Intervention:
    """Make room: shows that the limit sent calls to eager, and whether values keep coming.

    The limit is held: a program that sets it itself would undo the change.
    """
    value = HIGH_LIMITS[limit]
    return Intervention(
        name="raise-limit",
        change=f"torch._dynamo.config.{limit} = {value}",
        tests=f"each new value of {finding.subject or 'what the guard checks'} makes an entry",
        settings={limit: value},
        expects="no_limit",
    )


def _specialised(named: Finding | CauseRow) -> str:
    axis = "" if named.axis is None else f"the size at axis {named.axis} of "
    return f"{axis}{named.subject} is specialised at every new value"


_ABSORBED = ("recompile-shape", "recompile-constant-int", "recompile-constant-float")
"""Findings on values that one more general entry can take."""
_BY_SLUG: dict[str, tuple[Maker, ...]] = {
    "recompile-shape": (_default_policy, _mark_dimension, _free_parameters),
    "recompile-constant-int": (_default_policy, _free_module_ints),
    "recompile-constant-float": (_default_policy,),
    "shared-line": (_isolate,),
}
"""For each finding, what could test it, the smallest first."""

_NO_TEST = (
    "recompile-unnamed",
    "recompile-error",
    "recompile-other",
    "recompile-concurrent",
)


def limit_hit(finding: Finding, every: Iterable[Finding]) -> str:
    """The name of the limit that the finding's own code hit, else of one that was hit."""
    hit = [one for one in every if one.slug == "cache-limit"]
    own = [one for one in hit if one.code_object == finding.code_object]
    return next((one.subject for one in (*own, *hit)), "")


def can_be_raised(slug: str) -> bool:
    """Whether a higher limit could test a finding of this kind."""
    if slug in ("shared-line", "recompile-constant-int", "recompile-constant-float"):
        return True
    return slug.startswith("recompile-") and slug not in (*_BY_SLUG, *_NO_TEST)


def interventions_for(
    finding: Finding, region: Region, *, limit: str = "", shared: bool = False
) -> list[Intervention]:
    """What could refute ``finding``, the smallest change first; empty: nothing without an edit.

    ``limit``: the configuration name of the limit that the finding's code hit; empty: none.
    ``shared``: whether several regions enter its code, and fill one line together.
    """
    makers = _BY_SLUG.get(finding.slug, (_default_policy,))
    raised = _OLDER.get(limit, limit)
    raises = raised in HIGH_LIMITS and can_be_raised(finding.slug)
    if shared and _isolate not in makers and (raises or finding.slug in _BY_SLUG):
        makers = (_isolate, *makers)
    made = [maker(finding, region) for maker in makers]
    found = [intervention for intervention in made if intervention is not None]
    return [*found, _raise_limit(finding, raised)] if raises else found
