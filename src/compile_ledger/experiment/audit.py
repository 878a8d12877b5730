"""An audit: arms in order, cheap first, until the diagnosis stands."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator
from shutil import rmtree
from typing import Any

import compile_ledger
from compile_ledger.facts.arm import Arm
from compile_ledger.facts.contract import DEFAULT_ATOL, DEFAULT_RTOL, Contract, Stated
from compile_ledger.facts.region import Region
from compile_ledger.judge.captured.bypass import SLUG as BYPASSED
from compile_ledger.judge.captured.bypass import judge_in_place
from compile_ledger.judge.captured.experiment import removed
from compile_ledger.judge.document import ExperimentRow, Finding, Ledger
from compile_ledger.judge.experiments import judge_experiment
from compile_ledger.judge.ledger import judge
from compile_ledger.judge.runs.exceptions import wrapper_visible
from compile_ledger.judge.runs.stages import raises, rungs_to_run
from compile_ledger.judge.sites import with_sources
from compile_ledger.read.sources import sources

from . import plan
from .break_interventions import BREAKS, break_experiments
from .correct_interventions import correct_experiments
from .correctness.store import draws_random, needs_drift
from .interrupted import as_interrupted
from .interventions import IN_PLACE, Intervention, interventions_for, limit_hit
from .launch import AuditError, Progress, run_arm
from .overrides import is_cheap
from .plan import Terms
from .run_interventions import run_experiments
from .spec import ArmSpec
from .trouble import check_eager

CAPTURE, CORRECT = "capture", "correct"
CHEAP_SEEN = ("RUNS", "CORRECT", "CAPTURED", "STABLE")


class Listener:
    """Hears how an audit goes; the default says nothing."""

    def arm_started(self, name: str, why: str) -> None:
        """An arm's process is about to start; ``why`` says what it is for."""

    def progress(self, name: str, seconds: float, folder: Any) -> None:
        """About four times a second while an arm runs."""

    def arm_ended(self, arm: Arm) -> None:
        """An arm has ended, one way or another."""

    def provisional(self, ledger: Ledger) -> None:
        """The cheap arms have given a diagnosis; dearer arms follow."""


class Audit:
    """One audit of one target."""

    def __init__(self, terms: Terms, contract: Contract, listener: Listener | None = None) -> None:
        """Prepare; nothing runs yet."""
        self.terms = terms
        self.contract = contract
        self.listener = listener or Listener()
        self.arms: dict[str, Arm] = {}
        self.experiments: list[ExperimentRow] = []
        self.changes: dict[str, Intervention] = {}
        """What was changed in experiments on breaks, by name."""
        self.interrupted = False

    def run(self) -> Ledger:
        """Run the arms that the depth and the findings call for, and judge them.

        Ctrl-C ends the arms, not the ledger: what was measured is judged. Raises
        :class:`AuditError` when the target cannot be audited at all.
        """
        rmtree(self.terms.folder / "kept", ignore_errors=True)
        try:
            self._run()
        except KeyboardInterrupt:
            self.interrupted = True
        return self.ledger()

    def ledger(self, *, provisional: bool = False) -> Ledger:
        """The arms so far, judged."""
        judged = judge(
            self.arms,
            self.contract,
            self.experiments,
            tool_version=compile_ledger.__version__,
            provisional=provisional,
            interrupted=self.interrupted,
        )
        judged = with_sources(judged, sources(self.arms.values()))
        return as_interrupted(judged) if self.interrupted else judged

    def _run(self) -> None:
        self._cheap()
        ledger = self.ledger(provisional=True)
        if not _goes_on(ledger):
            self._experiments(ledger)
            return
        self.listener.provisional(ledger)
        self._experiments(ledger)
        if self.contract.depth == "quick":
            return
        self._opinions(ledger)
        self._own_backend(ledger)
        ended = self.ledger(provisional=True)
        if not _goes_on(ended) and all(row.level != "RUNS" for row in self.experiments):
            self._experiments(ended)

    def _cheap(self) -> None:
        """Eager, eager again, capture: where the diagnosis is often complete."""
        first = self._arm(plan.eager(self.terms), "the program as ordinary Python")
        check_eager(first, self.terms.target, self.terms.arm_folder("eager").last_words())
        self.contract = dataclasses.replace(self.contract, own_backend=own_backend(first.regions))
        self._take(first.stated or Stated())
        if first.status == "raised" or first.exit_code or first.missed_states:
            self._arm(plan.plain(self.terms), "the program without torch.compile at all")
        if wrapper_visible(first, self.arms.get("plain")) or not first.ran:
            return
        self.terms = dataclasses.replace(self.terms, seen=first.cut)
        self._arm(plan.eager_again(self.terms), "what differs here is not the compiler's doing")
        if needs_drift(self.terms.folder / "kept"):
            self._arm(plan.drift(self.terms), "where rounding alone leads these training steps")
        quick = self.contract.depth == "quick"
        capture = plan.capture(self.terms, ask_toolchain=quick)
        self._ladder(self._arm(capture, "what Dynamo captures, guards and recompiles"))

    def _take(self, stated: Stated) -> None:
        """Take what the workload states where the user of the audit stated nothing else."""
        terms, contract = self.terms, self.contract
        rtol = stated.rtol if terms.rtol is None else terms.rtol
        atol = stated.atol if terms.atol is None else terms.atol
        self.terms = dataclasses.replace(terms, rtol=rtol, atol=atol)
        self.contract = dataclasses.replace(
            contract,
            rtol=DEFAULT_RTOL if rtol is None else rtol,
            atol=DEFAULT_ATOL if atol is None else atol,
            horizon=stated.horizon if contract.horizon is None else contract.horizon,
        )

    def _arm(self, spec: ArmSpec, why: str) -> Arm:
        self.listener.arm_started(spec.name, why)
        terms = self.terms
        progress: Progress = self.listener.progress
        caches = terms.caches(spec.name)
        if spec.name not in plan.SHARES_CACHES:
            rmtree(caches, ignore_errors=True)
        arm = run_arm(spec, terms.arm_folder(spec.name), caches, terms.timeout, progress)
        self.arms[spec.name] = arm
        self.listener.arm_ended(arm)
        return arm

    def _experiments(self, ledger: Ledger) -> None:
        """The smallest change that could refute the diagnosis; the next one if it is refuted."""
        finding = _diagnosed(ledger)
        before = None if finding is None else self._shown_in(finding)
        if finding is None or before is None:
            return
        for row in self._rows(finding, before, limit=limit_hit(finding, ledger.findings)):
            self.experiments.append(row)
            if row.outcome == "holds":
                return

    def _rows(self, finding: Finding, before: Arm, *, limit: str) -> Iterator[ExperimentRow]:
        """Each experiment is run when its row is asked for, the cheapest first."""
        if finding.level == "RUNS":
            yield from run_experiments(finding, before, self._changed_in(before))
            return
        if finding.level == "CORRECT":
            own = self.contract.own_backend
            yield from correct_experiments(finding, before, self.arms, own, self._compared(before))
            return
        if finding.slug in BREAKS:
            yield from self._break_rows(finding, before)
            return
        if finding.slug == BYPASSED:
            yield from self._bypass_rows(finding)
            return
        if before.name != CAPTURE:
            yield self._backend_experiment(finding, before)
        region = _region_of(finding, before)
        shared = len({r.id for r in before.regions if r.root == region.root is not None}) > 1
        for chosen in interventions_for(finding, region, limit=limit, shared=shared):
            yield self._experiment(chosen, before)

    def _break_rows(self, finding: Finding, before: Arm) -> Iterator[ExperimentRow]:
        every = _broken_regions(self.ledger(provisional=True))
        regions = every if finding.region is None else {finding.region}
        yield from break_experiments(before, regions, self._changed)

    def _bypass_rows(self, finding: Finding) -> Iterator[ExperimentRow]:
        """Only a wrapper that torch.compile returned can be gone round by the module inside."""
        before, region = self.arms[CAPTURE], finding.region or 0
        own = (o for o in self.arms["eager"].own_calls if region in o.regions)
        if _region_of(finding, before).kind != "module" or not any(o.outside for o in own):
            return
        for one in IN_PLACE:
            yield judge_in_place(
                before, self._changed(one), one.name, one.change, one.tests, region
            )

    def _changed(self, chosen: Intervention) -> Arm:
        """The capture arm with one change."""
        return self._changed_in(self.arms.get(CAPTURE))(chosen)

    def _changed_in(self, before: Arm | None) -> Callable[[Intervention], Arm]:
        """Runs the arm that a finding rests on with one change."""
        own = before is not None and before.name != CAPTURE

        def changed(chosen: Intervention) -> Arm:
            self.changes[chosen.name] = chosen
            spec = plan.intervention(self._as_long_as(before), chosen, own_backend=own)
            return self._arm(spec, f"experiment: {chosen.change}")

        return changed

    def _opinions(self, ledger: Ledger) -> None:
        """Other instruments beside ours, where there is something to disagree on."""
        regions = _broken_regions(ledger)
        if regions:
            why = "what explain and fullgraph=True say of the breaks"
            self._arm(plan.opinions(self.terms, regions), why)

    def _ablation(self, ledger: Ledger) -> None:
        """Price the breaks that an experiment removed, in code of the workload's own backend."""
        row = next((r for r in reversed(self.experiments) if removed(r)), None)
        if row is None or is_cheap(self.contract.own_backend):
            return
        spec = plan.ablation(self.terms, self.changes[row.name], _broken_regions(ledger))
        self._arm(spec, "what the breaks cost: calls with and without them interleaved")

    def _compared(self, before: Arm) -> Callable[[Intervention], Arm]:
        """Runs the arm that a finding rests on with one change, compared with eager."""

        def changed(chosen: Intervention) -> Arm:
            terms = self._as_long_as(before)
            spec = plan.comparing(terms, chosen, own_backend=before.name != CAPTURE)
            return self._arm(spec, f"experiment: {chosen.change}")

        return changed

    def _shown_in(self, finding: Finding) -> Arm | None:
        """The arm that the finding rests on; the capture arm where it shows the same."""
        named = (self.arms[e.arm] for e in finding.evidence if e.arm in self.arms)
        return next(named, self.arms.get(CAPTURE))

    def _experiment(self, chosen: Intervention, before: Arm) -> ExperimentRow:
        spec = plan.intervention(
            self._as_long_as(before), chosen, own_backend=before.name != CAPTURE
        )
        after = self._arm(spec, f"experiment: {chosen.change}")
        return judge_experiment(
            before, after, chosen.name, chosen.change, chosen.tests, chosen.expects
        )

    def _as_long_as(self, before: Arm | None) -> Terms:
        """Terms under which an arm sees the calls that ``before`` saw."""
        cut = None if before is None else before.cut
        return self.terms if cut is None else dataclasses.replace(self.terms, seen=cut)

    def _backend_experiment(self, finding: Finding, before: Arm) -> ExperimentRow:
        """What the capture arm says already: the same stream without the code generator."""
        own = self.contract.own_backend
        return judge_experiment(
            before,
            self.arms[CAPTURE],
            "without-code-generator",
            f"backend={own!r} -> 'eager'",
            f"{own} specialises {finding.subject or 'what the guard checks'}, Dynamo does not",
        )

    def _own_backend(self, provisional: Ledger) -> None:
        """The workload's own backend, as far as the levels still need it."""
        cheap_is_own = is_cheap(self.contract.own_backend)
        full = self.contract.depth == "full"
        if cheap_is_own and not full:
            return
        self._arm(plan.reference(self.terms), "fp64, the reference of CORRECT")
        failing = provisional.diagnosis is not None
        if failing and not full:
            self._ladder(self._correct())
        if failing and not self._clears(provisional) and not full:
            return
        random = self._draws_random()
        if random and CORRECT not in self.arms:
            self._correct()
        self._cold_and_warm(compare=not random)

    def _clears(self, provisional: Ledger) -> bool:
        """Whether the diagnosis is gone once the cost of breaks was measured."""
        if provisional.diagnosis is None or provisional.diagnosis.level != "CAPTURED":
            return False
        self._ablation(provisional)
        ledger = self.ledger(provisional=True)
        if ledger.diagnosis is None:
            return True
        if ledger.diagnosis.level != "CAPTURED":
            self._experiments(ledger)
        return False

    def _ladder(self, own: Arm) -> None:
        """Where an arm raises and eager does not: which stage of compiling raises first."""
        eager, capture = self.arms["eager"], self.arms[CAPTURE]
        if not raises(eager, own) or (own is not capture and raises(eager, capture)):
            return
        diagnosis = self.ledger(provisional=True).diagnosis
        if diagnosis is not None and diagnosis.slug == "toolchain-missing":
            return
        for backend in rungs_to_run(capture, own):
            arm = self._arm(plan.rung(self.terms, backend), f"does backend={backend!r} raise, too?")
            if raises(eager, arm):
                return

    def _correct(self) -> Arm:
        calls = plan.calls_to_compare(self.arms["eager"], self.terms.compare)
        spec = plan.correct(self.terms, calls, align_random=self._draws_random())
        return self._arm(spec, f"the first {calls} calls compiled, compared with eager")

    def _draws_random(self) -> bool:
        return draws_random(self.terms.folder / "kept")

    def _cold_and_warm(self, *, compare: bool) -> None:
        """Cold to the end of the stream; warm and steady while no level has failed."""
        arm = self._arm(plan.cold(self.terms, compare=compare), "empty caches, the whole stream")
        self._ladder(arm)
        if not arm.ran:
            return
        full = self.contract.depth == "full"
        ledger = self.ledger(provisional=True)
        if ledger.diagnosis is not None and ledger.diagnosis.level in CHEAP_SEEN and not full:
            self._experiments(ledger)
            return
        self._arm(plan.warm(self.terms), "a fresh process with the cold arm's caches")
        self._arm(plan.steady(self.terms), "eager and compiled calls interleaved")


def own_backend(regions: Iterable[Region]) -> str:
    """The backend of the regions; one that generates code before any that does not."""
    named = [r.compile_kwargs.get("backend", "'inductor'").strip("'\"") for r in regions]
    dear = [name for name in named if not is_cheap(name)]
    return (dear or named or ["inductor"])[0]


def _goes_on(ledger: Ledger) -> bool:
    """Whether anything after the cheap arms can still tell more."""
    return ledger.diagnosis is None or ledger.diagnosis.level != "RUNS"


def _diagnosed(ledger: Ledger) -> Finding | None:
    if ledger.diagnosis is None:
        return None
    named = (f for f in ledger.findings if f.id == ledger.diagnosis.finding)
    return next(named, None)


def _broken_regions(ledger: Ledger) -> set[int]:
    return {f.region for f in ledger.findings if f.slug in BREAKS and f.region is not None}


def _region_of(finding: Finding, arm: Arm) -> Region:
    by_id = {region.id: region for region in arm.regions}
    found = by_id.get(finding.region if finding.region is not None else -1)
    return found or next(iter(arm.regions))


__all__ = ["Audit", "AuditError", "Listener", "own_backend"]
