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
import threading
import time
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

from compile_ledger.facts.arm import Costs
from compile_ledger.facts.contract import Stated
from compile_ledger.observe.clock import cpu_ns
from compile_ledger.observe.hooks.backward import BackwardPass, around_backward
from compile_ledger.observe.hooks.own_calls import OwnCallCounter
from compile_ledger.observe.hooks.stances import hold_eager
from compile_ledger.observe.operators import OperatorSampler
from compile_ledger.observe.recording.recorder import Recorder
from compile_ledger.observe.settings import change_setting, hold_setting
from compile_ledger.observe.stack import describe

from . import ablation, overrides, replay, subject
from .cannot_run import cannot_run, stops_before_compiling
from .correctness.error import Tolerance
from .correctness.store import Store
from .correctness.watchers import DRIFT, Comparer, Drifter, Keeper, Referee, Repeater, Watcher
from .enough import Enough
from .last_calls import LastCalls
from .loaded_states import LoadedStates
from .spec import ArmSpec, Removal
from .workload import Workload

PROBLEM = 3
"""Exit code of an arm whose target cannot be run."""
TORCH_MISSING = 4
LEFT = "the program ended itself with os._exit(0)"
"""Why an arm stopped whose program ended the process without Python's clean-up."""
_LONG_CALL_NS = 2e9
"""A call that runs longer is worth a word: it compiles, as a rule."""


def problem_file(recording: str) -> Path:
    """Where an arm writes why its target cannot be run."""
    return Path(recording + ".problem")


def progress_file(recording: str) -> Path:
    """Where an arm says how far it is: one line, whole where it ends with a newline."""
    return Path(recording + ".progress")


class Watch(threading.Thread):
    """Says twice a second how far the arm is, and ends it at its timeout.

    A thread, because a program may wait for ever in its main one.
    """

    def __init__(self, arm: ArmProcess) -> None:
        """Watch ``arm`` from now on."""
        super().__init__(name="compile-ledger watch", daemon=True)
        self.arm = arm
        self.ends = arm.began + arm.spec.timeout

    def run(self) -> None:
        """Tell, until the time has come."""
        while (left := self.ends - time.monotonic()) > 0:
            time.sleep(min(0.5, left))
            with contextlib.suppress(OSError, RuntimeError):
                progress_file(self.arm.spec.recording).write_text(f"{self.arm.progress()}\n")
        self.arm.run_out()


class ArmProcess:
    """One arm while it runs."""

    def __init__(self, spec: ArmSpec) -> None:
        """Prepare; torch is not imported yet."""
        self.spec = spec
        self.began = time.monotonic()
        self.costs: dict[str, int] = {}
        self.watcher: Watcher | None = None
        self.enough = Enough(spec.prefix, self.leave)
        self.last = LastCalls()
        self.operators: OperatorSampler | None = None
        self.loaded: LoadedStates | None = None
        self.recorder: Recorder
        self._leaving = threading.Lock()

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
        if self.spec.own_calls:
            self.recorder.session.own_calls = OwnCallCounter(self.recorder.session)
        self.recorder.start(changed=self.spec.changes())
        if self.spec.watches_loads:
            session = self.recorder.session
            self.loaded = session.contained(LoadedStates, session)
        declare = self.recorder.session.declare
        spec = self.spec
        if spec.plain:
            overrides.install_identity()
        else:
            overrides.install(
                spec.overrides, declare, cheap_backend=spec.cheap_backend, in_place=spec.in_place
            )
        self._watch()
        self._hold_exit()
        if spec.timeout:
            Watch(self).start()
        run = self._spend("setup", lambda: subject.load(self.spec.target, self._stated))
        self._finish(run())

    def _stated(self, workload: Workload) -> None:
        """Write what a workload states of itself: the audit's own process never loads it."""
        stated = Stated(workload.rtol, workload.atol, workload.horizon)
        self.recorder.session.sink.write(stated)

    @property
    def _bare(self) -> bool:
        """Whether calls are not kept apart: a workload's own steady-state arm."""
        bare = self.spec.steady and self.spec.prefix is None
        return bare and self.spec.target.kind in ("name", "pickled")

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
            if not isinstance(value, list):
                hold_setting(name)
        if self.spec.eager:
            hold_eager()
        if self.spec.fallback_random:
            from torch._inductor import config

            config.fallback_random = True

    def _watch(self) -> None:
        calls = self.recorder.calls
        if calls is None:
            return
        self.watcher = self._correctness_watcher()
        if self.watcher is not None:
            calls.watchers.append(self.watcher)
        if isinstance(self.watcher, Comparer) and self.spec.role == "compare":
            self._watch_backward(self.watcher)
        if self.spec.steady or self.spec.ablate or self.spec.opinions:
            calls.watchers.append(self.last)
        if self.spec.operators:
            self.operators = self.recorder.session.contained(OperatorSampler)
            calls.watchers += [self.operators] if self.operators is not None else []
        calls.watchers.insert(0, self.enough)  # Its turn comes last after a call.
        if self.spec.max_calls is not None:
            self.enough.most = self.spec.max_calls

    def _hold_exit(self) -> None:
        """Measure and say goodbye before a program ends this process, with success, itself."""
        exit_, pid = os._exit, os.getpid()

        def leave(status: int) -> NoReturn:
            if status == 0 and os.getpid() == pid and self._leaving.acquire(blocking=False):
                self.recorder.session.contained(self._left)
            exit_(status)

        os._exit = leave

    def _left(self) -> None:
        self._measure_unless_open()
        self._say_goodbye("stopped", None, 0, LEFT)

    def _watch_backward(self, watcher: Comparer) -> None:
        contained = self.recorder.session.contained

        def begin(about: BackwardPass) -> Any:
            end = contained(watcher.gradients.begin, about)
            return None if end is None else partial(contained, end)

        watcher.sees_backward = around_backward(begin)

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
        if spec.role == "drift":
            return Drifter(Store(Path(spec.kept) / DRIFT), spec.compare)
        if spec.role in ("compare", "repeat"):
            kind = Comparer if spec.role == "compare" else Repeater
            write = self.recorder.session.sink.write
            return kind((kept, reference), spec.compare, stated, write)
        return None

    def _finish(self, outcome: subject.Outcome) -> None:
        self._leaving.acquire()
        session = self.recorder.session
        error, plain = outcome.raised, self.spec.plain
        eager = self.spec.eager and not plain and not self.enough.all.calls
        if error and eager and stops_before_compiling(error, regions=len(session.regions)):
            raise subject.SubjectError(cannot_run(self.spec.target, error))
        if not session.regions and not plain:
            subject.check_was_program(self.spec.target, outcome)
        left = outcome.raised is None and outcome.result is not None
        if self.watcher is not None and left:
            session.contained(self.watcher.final, outcome.result)
        if self.watcher is not None and outcome.raised is None:
            session.contained(self.watcher.ended, outcome.exit_code or 0)
        beyond = self.spec.prefix is not None and self.enough.all.calls > self.spec.prefix.calls > 0
        if outcome.raised is not None and beyond:
            self._end("stopped", "in an exception, later than eager was followed")
        elif outcome.raised is not None:
            self._say_goodbye("raised", describe(outcome.raised), outcome.exit_code)
        else:
            self._measure(outcome)
            self._say_goodbye("finished", None, outcome.exit_code)

    def _measure(self, outcome: subject.Outcome) -> None:
        """What is measured when the program is over."""
        if self.spec.steady:
            self._steady(outcome)
        if self.spec.ablate is not None:
            self._ablate(self.spec.ablate)
        if self.spec.opinions:
            self._ask_others()

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

    def _say_goodbye(self, status: Any, raised: Any, exit_code: int | None, why: str = "") -> None:
        from compile_ledger.observe.toolchain import toolchain

        session = self.recorder.session
        session.sink.write(Costs(**self.costs))
        for counter in (session.own_calls, self.operators, self.loaded):
            for fact in counter.facts() if counter is not None else ():
                session.sink.write(fact)
        if self.spec.ask_toolchain and overrides.replaced():
            session.sink.write(toolchain())
        cut = status == "stopped" and why != LEFT
        ended = (why, self.enough.all.calls if cut else None)
        self.recorder.finish(status, raised, exit_code, ended)

    def leave(self, when: str) -> None:
        """End the process now, in the middle of the program.

        It may never end by itself, or only in days. What is measured at the end is
        measured first; the program's own clean-up does not run.
        """
        self._leaving.acquire()  # for good: only one thread ends the process
        self.recorder.session.contained(self._measure, subject.Outcome())
        self._end("stopped", when)

    def run_out(self) -> None:
        """The timeout: what was seen is judged where eager saw no more."""
        self._leaving.acquire()
        calls = self.enough.all.calls
        if not calls or calls < (self.spec.suffices or calls + 1):
            self._end("timed_out", "it ran past --timeout")
        self._measure_unless_open()
        self._end("stopped", f"after {calls:,} calls, at --timeout")

    def _measure_unless_open(self) -> None:
        """Measure where no call of a region is under way."""
        keeper = self.recorder.calls
        if keeper is not None and not any(keeper.open.values()):
            self.recorder.session.contained(self._measure, subject.Outcome())

    def progress(self) -> str:
        """How far the arm is, in a few words."""
        calls, keeper = self.enough.all.calls, self.recorder.calls
        if self._leaving.locked() or keeper is None:
            return "measuring" if self._leaving.locked() else ""
        running = [stack[0] for stack in list(keeper.open.values()) if stack]
        seconds = max((self.recorder.session.now() - call.started for call in running), default=0)
        if seconds > _LONG_CALL_NS:
            name = running[0].region.fact.target
            return f"{calls:,} calls, in call {calls} of {name} for {seconds / 1e9:.0f} s"
        waits = self.enough.waits_for()
        return f"{calls:,} calls" + (f", waits for {waits}" if waits else "")

    def _end(self, status: Any, when: str) -> None:
        self._say_goodbye(status, None, None, when)
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
