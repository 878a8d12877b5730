"""The process of one arm: ``python -m compile_ledger.experiment.arm_process SPEC``.

Runs the target under the spec's condition with the recorder on, and writes the
arm's recording. When the target cannot be run at all, writes one line beside the
recording and exits with :data:`PROBLEM`.
"""

from __future__ import annotations

import contextlib
import os
import random
import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from compile_ledger.facts.arm import Costs
from compile_ledger.observe.clock import cpu_ns
from compile_ledger.observe.recording.recorder import Recorder
from compile_ledger.observe.settings import change_setting
from compile_ledger.observe.stack import describe

from . import ablation, overrides, replay, subject
from .correctness.error import Tolerance
from .correctness.store import Store
from .correctness.watchers import Comparer, Keeper, Referee, Repeater, Watcher
from .spec import ArmSpec, Removal

if TYPE_CHECKING:
    from compile_ledger.facts.calls import Call
    from compile_ledger.observe.recording.calls import OpenCall

PROBLEM = 3
"""Exit code of an arm whose target cannot be run."""
TORCH_MISSING = 4


def problem_file(recording: str) -> Path:
    """Where an arm writes why its target cannot be run."""
    return Path(recording + ".problem")


class Stopper:
    """A watcher that ends the arm after so many outermost calls."""

    def __init__(self, arm: ArmProcess, most: int) -> None:
        """End ``arm`` after ``most`` calls."""
        self.arm = arm
        self.left = most

    def before(self, call: OpenCall) -> None:
        """Nothing is needed before a call."""

    def after(self, call: OpenCall, fact: Call) -> None:
        """Count an outermost call; end the process after the last one.

        The program may never end by itself, so the process leaves at once, its
        own clean-up not run.
        """
        del fact
        if not call.depth:
            self.left -= 1
            if self.left <= 0:
                self.arm.leave()


class ArmProcess:
    """One arm while it runs."""

    def __init__(self, spec: ArmSpec) -> None:
        """Prepare; torch is not imported yet."""
        self.spec = spec
        self.costs: dict[str, int] = {}
        self.watcher: Watcher | None = None
        self.last = replay.LastCalls()
        self.recorder: Recorder

    def run(self) -> None:
        """Everything, from importing torch to the goodbye."""
        self._spend("import_torch", self._import_torch)
        if self.spec.prewarm:
            self._spend("prewarm", prewarm)
        self.recorder = Recorder(
            self.spec.recording,
            arm=self.spec.name,
            keep_calls=not self._bare,
            eager=self.spec.eager,
        )
        self.recorder.session.default_site = subject.site_of(self.spec.target)
        self.recorder.start(changed=self._changes())
        declare = self.recorder.session.declare
        spec = self.spec
        overrides.install(spec.overrides, declare, cheap_backend=spec.cheap_backend)
        self._watch()
        run = self._spend("setup", lambda: subject.load(self.spec.target))
        self._finish(run())

    @property
    def _bare(self) -> bool:
        """Whether calls are not kept apart: a workload's own steady-state arm."""
        return self.spec.steady and self.spec.target.kind in ("name", "pickled")

    def _spend(self, what: str, work: Any) -> Any:
        before = cpu_ns()
        value = work()
        self.costs[what] = cpu_ns() - before
        return value

    def _import_torch(self) -> None:
        import torch
        import torch._dynamo

        seed_everything(self.spec.seed)
        torch.set_num_threads(self.spec.threads)
        for name, value in self.spec.settings.items():
            change_setting(name, value)
        if self.spec.eager:
            torch.compiler.set_stance("force_eager")
        if self.spec.fallback_random:
            from torch._inductor import config

            config.fallback_random = True

    def _changes(self) -> tuple[str, ...]:
        spec = self.spec
        said = [f"seed {spec.seed}", f"{spec.threads} thread(s)"]
        said += [f"{name}={value}" for name, value in spec.env.items()]
        said += [f"{variable} dropped" for variable in spec.dropped]
        said += [f"torch.compile({name}={value!r})" for name, value in spec.overrides.items()]
        said += [f"torch._dynamo.config.{n} = {v!r}" for n, v in spec.settings.items()]
        if spec.cheap_backend:
            said.append("torch.compile(backend='eager') in place of a backend that generates code")
        if spec.eager:
            said.append("torch.compiler.set_stance('force_eager')")
        if spec.fallback_random:
            said.append("torch._inductor.config.fallback_random = True")
        return tuple(said)

    def _watch(self) -> None:
        calls = self.recorder.calls
        if calls is None:
            return
        self.watcher = self._correctness_watcher()
        if self.watcher is not None:
            calls.watchers.append(self.watcher)
        if self.spec.steady or self.spec.ablate or self.spec.opinions:
            calls.watchers.append(self.last)
        if self.spec.max_calls is not None:
            calls.watchers.append(Stopper(self, self.spec.max_calls))

    def _correctness_watcher(self) -> Watcher | None:
        spec = self.spec
        kept, reference = Store(Path(spec.kept)), Store(Path(spec.kept) / "reference")
        stated = Tolerance(
            Tolerance.rtol if spec.rtol is None else spec.rtol,
            Tolerance.atol if spec.atol is None else spec.atol,
        )
        if spec.role == "keep":
            return Keeper(kept, spec.compare)
        if spec.role == "reference":
            return Referee(reference, spec.compare)
        if spec.role in ("compare", "repeat"):
            kind = Comparer if spec.role == "compare" else Repeater
            write = self.recorder.session.sink.write
            return kind((kept, reference), spec.compare, stated, write)
        return None

    def _finish(self, outcome: subject.Outcome) -> None:
        session = self.recorder.session
        if not session.regions:
            subject.check_was_program(self.spec.target, outcome)
        left = outcome.raised is None and outcome.result is not None
        if self.watcher is not None and left:
            session.contained(self.watcher.final, outcome.result)
        if self.watcher is not None and outcome.raised is None:
            session.contained(self.watcher.ended, outcome.exit_code or 0)
        if self.spec.steady and outcome.raised is None:
            self._steady(outcome)
        if self.spec.ablate is not None and outcome.raised is None:
            self._ablate(self.spec.ablate)
        if self.spec.opinions and outcome.raised is None:
            self._ask_others()
        raised = None if outcome.raised is None else describe(outcome.raised)
        self._say_goodbye("raised" if raised else "finished", raised, outcome.exit_code)

    def _steady(self, outcome: subject.Outcome) -> None:
        session = self.recorder.session
        if self.recorder.calls is not None:
            self.recorder.calls.paused = True
            facts = replay.replay_program(self.last, session, self.spec.seed)
        else:
            facts = replay.replay_workload(outcome, session, self.spec.seed)
        for fact in facts:
            session.sink.write(fact)

    def _ablate(self, removal: Removal) -> None:
        session = self.recorder.session
        session.calls.paused = True
        for fact in ablation.ablate(self.last, session, removal, self.spec.seed):
            session.sink.write(fact)

    def _ask_others(self) -> None:
        session = self.recorder.session
        session.calls.paused = True
        for fact in replay.opinions(self.last, self.spec.opinions):
            session.sink.write(fact)

    def _say_goodbye(self, status: Any, raised: Any, exit_code: int | None) -> None:
        from compile_ledger.observe.toolchain import toolchain

        session = self.recorder.session
        session.sink.write(Costs(**self.costs))
        if self.spec.ask_toolchain and overrides.replaced():
            session.sink.write(toolchain())
        self.recorder.finish(status, raised, exit_code)

    def leave(self) -> None:
        """End the process now, in the middle of the program, with a goodbye."""
        self._say_goodbye("stopped", None, None)
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)


def seed_everything(seed: int) -> None:
    """Seed torch, Python and, where it is installed, numpy, as every arm does."""
    import torch

    torch.manual_seed(seed)
    random.seed(seed)
    with contextlib.suppress(ImportError):
        import_module("numpy.random").seed(seed)


def prewarm() -> None:
    """Pay what belongs to the process and the machine, not to any region.

    Imports inductor and compiles ``x + 1``: the instruction set probe and the
    precompiled header of a cold cache are paid here. Then Dynamo starts afresh,
    before the recorder and the user's program.
    """
    import torch
    from torch._inductor import compile_fx  # noqa: F401

    torch.compile(lambda x: x + 1)(torch.ones(64))
    torch._dynamo.reset()  # noqa: SLF001


def main() -> int:
    """Run the arm that ``sys.argv[1]`` describes; exit codes as the module says."""
    spec = ArmSpec.read(Path(sys.argv[1]))
    arm = ArmProcess(spec)
    try:
        arm.run()
    except subject.SubjectError as error:
        problem_file(spec.recording).write_text(str(error), encoding="utf-8")
        return PROBLEM
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        return TORCH_MISSING
    return 0


if __name__ == "__main__":
    sys.exit(main())
