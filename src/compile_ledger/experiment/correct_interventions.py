"""Experiments on level CORRECT: one change after which compiled calls may agree with eager."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from compile_ledger.facts.arm import Arm
from compile_ledger.judge.correct.experiment import judge_agreement
from compile_ledger.judge.document import ExperimentRow, Finding

from .interventions import Intervention

_CAPTURE = "capture"
_OF_MODULES = ("module", "module.compile", "method")


def correct_experiments(
    finding: Finding,
    before: Arm,
    arms: Mapping[str, Arm],
    own_backend: str,
    changed: Callable[[Intervention], Arm],
) -> Iterator[ExperimentRow]:
    """Each experiment is run when its row is asked for; ``changed`` runs its arm.

    Where only the workload's own backend differs, the capture arm has run already: the
    last row compares with it.
    """
    for chosen in correct_interventions(finding, before, own_backend):
        yield judge_agreement(before, changed(chosen), chosen.name, chosen.change, chosen.tests)
    if before.name != _CAPTURE and _CAPTURE in arms:
        yield judge_agreement(
            before,
            arms[_CAPTURE],
            "without-code-generator",
            f"backend={own_backend!r} -> 'eager'",
            f"{own_backend} gives {finding.subject or 'the result'}, Dynamo's graph does not",
        )


def correct_interventions(
    finding: Finding, before: Arm, own_backend: str
) -> Iterator[Intervention]:
    """What could refute why a result differs; nothing where only an edit could."""
    region = next((r for r in before.regions if r.id == finding.region), None)
    if before.name == _CAPTURE:
        if region and region.kind in _OF_MODULES and finding.first_call:
            yield _HOOKS
    elif finding.slug == "numerics" and own_backend == "inductor":
        yield _CASTS


_HOOKS = Intervention(
    name="guard-hooks",
    change="torch._dynamo.config.skip_nnmodule_hook_guards = False",
    tests="a hook of a module was added, removed or changed, which is not guarded by default",
    settings={"skip_nnmodule_hook_guards": False},
)
"""Where the first calls agreed: what changed later made no entry refuse."""
_CASTS = Intervention(
    name="emulate-casts",
    change="TORCHINDUCTOR_EMULATE_PRECISION_CASTS=1",
    tests="inductor leaves out casts to a lower precision between the operations of one kernel",
    env={"TORCHINDUCTOR_EMULATE_PRECISION_CASTS": "1"},
)
