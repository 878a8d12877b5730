"""Experiments on level RUNS: one change after which compiled code may run where it raised."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from compile_ledger.facts.arm import Arm
from compile_ledger.judge.captured.break_kinds import settings_named
from compile_ledger.judge.document import ExperimentRow, Finding
from compile_ledger.judge.runs.constraint import as_large
from compile_ledger.judge.runs.experiment import judge_run, raised_in

from .interventions import Intervention
from .sources import source_of


def run_experiments(
    finding: Finding, before: Arm, changed: Callable[[Intervention], Arm]
) -> Iterator[ExperimentRow]:
    """Each experiment is run when its row is asked for; ``changed`` runs its arm."""
    if finding.slug != "compiled-raises":
        return
    for chosen in run_interventions(finding, before):
        yield judge_run(before, changed(chosen), chosen.name, chosen.change, chosen.tests)


def run_interventions(finding: Finding, arm: Arm) -> Iterator[Intervention]:
    """What could refute why compiled code raises; nothing where only an edit could."""
    region = next((r for r in arm.regions if r.id == finding.region), None)
    if finding.axis is not None and finding.actual.isdigit():
        yield from _mark_as_large(finding, arm)
    yield from _named(arm)
    if region and region.compile_kwargs.get("fullgraph") == "True":
        yield Intervention(
            name="allow-breaks",
            change="fullgraph=True -> False",
            tests="fullgraph=True raises where Dynamo would break the graph and go on",
            overrides={"fullgraph": False},
        )


def _named(arm: Arm) -> Iterator[Intervention]:
    """Each setting that the exception's own text says to change."""
    raised = raised_in(arm)
    for name, value in settings_named(raised.message if raised else "").items():
        yield Intervention(
            name=f"set-{name.replace('_', '-')}",
            change=f"torch._dynamo.config.{name} = {value!r}",
            tests="the exception's text names this setting",
            settings={name: value},
        )


def _mark_as_large(finding: Finding, arm: Arm) -> Iterator[Intervention]:
    """Mark the other dimensions that have the size at which the marked one was fixed."""
    at = (finding.region, finding.first_call)
    sizes = next((call.sizes for call in arm.calls if (call.region, call.index) == at), {})
    equal = as_large(finding.subject, finding.axis or 0, int(finding.actual), sizes)
    sources = [f"{source_of(name)}:{axis}" for name, axis in equal if source_of(name)]
    if sources:
        value = ",".join(sources)
        yield Intervention(
            name="mark-as-large",
            change=f'TORCH_COMPILE_DYNAMIC_SOURCES="{value}"',
            tests=f"{finding.subject} is tied to a dimension of its size that stays static",
            env={"TORCH_COMPILE_DYNAMIC_SOURCES": value},
        )
