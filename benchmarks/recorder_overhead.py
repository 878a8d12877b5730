"""What recording costs a call, beside torch's own instruments.

Interleaved blocks in one process; the 10th percentile over blocks, in nanoseconds a
call. Each variant is compiled several times, so that where a compiled function happens to
lie in memory is averaged out. ``bare`` stands twice: its distance to itself is the noise.

    python benchmarks/recorder_overhead.py
    python benchmarks/recorder_overhead.py --backend inductor --blocks 2000
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import itertools
import logging
import os
import random
import statistics
import sys
import time
import types
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
import torch._dynamo
from torch._C._dynamo import eval_frame

from compile_ledger.observe.hooks import entries
from compile_ledger.observe.recording.recorder import Recorder
from compile_ledger.observe.recording.session import MANY
from compile_ledger.observe.recording.timeline import EventRing

sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))
import varlen_service  # type: ignore[import-not-found]

RARE = 25
"""The profiler takes part in one of so many rounds: it starts and stops slowly."""


@dataclass
class Variant:
    """One way of observing a call."""

    name: str
    calls: list[Callable[[Any], Any]]
    """The same function, compiled several times; the blocks take turns."""
    around: Callable[[], AbstractContextManager[Any]] = contextlib.nullcontext
    every: int = 1
    samples: list[float] = field(default_factory=list)

    def block(self, x: Any, calls: int) -> None:
        """Time one block."""
        call = self.calls[len(self.samples) % len(self.calls)]
        with self.around(), torch.no_grad():
            call(x)
            began = time.perf_counter_ns()
            for _ in range(calls):
                call(x)
            self.samples.append((time.perf_counter_ns() - began) / calls)

    @property
    def p10(self) -> float:
        """The 10th percentile of each copy, and their mean, in nanoseconds a call."""
        number = len(self.calls)
        each = (self.samples[copy::number] for copy in range(number))
        return statistics.mean(statistics.quantiles(samples, n=10)[0] for samples in each)


def plus_one(x: Any) -> Any:
    """The smallest region."""
    return x + 1


def own(function: Any) -> Callable[[Any], Any]:
    """The same function with a code object, so a cache line, of its own."""
    return types.FunctionType(function.__code__.replace(), function.__globals__)


@contextlib.contextmanager
def observed(how: str) -> Iterator[None]:
    """What is compiled in here keeps its hooks; the patches are taken out again."""
    recorder = Recorder(os.devnull)
    session = recorder.session
    if how == "timeline":
        session.timeline = EventRing(session, 10_000)
    if how == "counts":
        entries.install(session)
    elif how != "bare":
        recorder.install()
    try:
        yield
    finally:
        while session.restore:
            session.restore.pop()()
        while session.hook_handles:
            session.hook_handles.pop().remove()


@contextlib.contextmanager
def lookups() -> Iterator[None]:
    """The guard hook, for the time of a block."""
    if not hasattr(eval_frame, "set_guard_complete_hook"):
        yield
        return
    hook = functools.partial(next, itertools.repeat(True, MANY))  # noqa: FBT003
    eval_frame.set_guard_complete_hook(hook)
    try:
        yield
    finally:
        eval_frame.set_guard_complete_hook(None)


@contextlib.contextmanager
def logs() -> Iterator[None]:
    """``TORCH_LOGS=recompiles``."""
    torch._logging.set_logs(recompiles=True)  # noqa: SLF001
    try:
        yield
    finally:
        torch._logging.set_logs()  # noqa: SLF001


@contextlib.contextmanager
def trace() -> Iterator[None]:
    """A handler on the log that ``TORCH_TRACE`` writes."""
    log, handler = logging.getLogger("torch.__trace"), logging.NullHandler()
    log.addHandler(handler)
    try:
        yield
    finally:
        log.removeHandler(handler)


def profiler() -> AbstractContextManager[Any]:
    """``torch.profiler`` on the CPU."""
    made: AbstractContextManager[Any] = torch.profiler.profile(
        activities=[torch.profiler.ProfilerActivity.CPU]
    )
    return made


def variants(make: Callable[[], Any], backend: str, x: Any, copies: int) -> list[Variant]:
    """Every variant, compiled for ``x``."""
    compiled: dict[str, Any] = {}
    for _ in range(copies):
        for how in ("bare", "bare again", "counts", "full", "timeline"):
            with observed(how.split()[0]), torch.no_grad():
                made = torch.compile(make(), backend=backend, dynamic=False)
                made(x)
            compiled.setdefault(how, []).append(made)
    bare = compiled["bare"]
    return [
        Variant("bare", bare),
        Variant("bare again", compiled["bare again"]),
        Variant("entry counts", compiled["counts"]),
        Variant("full recorder", compiled["full"], lookups),
        Variant("with timeline", compiled["timeline"], lookups),
        Variant("TORCH_LOGS=recompiles", bare, logs),
        Variant("TORCH_TRACE handler", bare, trace),
        Variant("torch.profiler", bare, profiler, RARE),
    ]


def measure(found: list[Variant], x: Any, blocks: int, calls: int) -> None:
    """Interleave the blocks in random order."""
    order = random.Random(0)  # noqa: S311
    for number in range(blocks):
        turn = [variant for variant in found if number % variant.every == 0]
        order.shuffle(turn)
        for variant in turn:
            variant.block(x, calls)


def show(title: str, found: list[Variant]) -> None:
    """A table: nanoseconds, difference to bare, ratio."""
    bare = found[0].p10
    print(f"\n{title}")
    for variant in found:
        ns = variant.p10
        print(f"  {variant.name:<22} {ns:>12,.0f} ns {ns - bare:>+10,.0f} ns  x{ns / bare:.3f}")


def compile_times(backend: str, number: int) -> None:
    """CPU milliseconds of compiles with and without the recorder, taken in turn."""
    spent: dict[str, list[float]] = {"bare": [], "bare again": [], "full": []}
    for _ in range(number):
        for how, times in spent.items():
            compiled = torch.compile(own(plus_one), backend=backend, dynamic=False)
            with observed(how.split()[0]):
                began = time.process_time_ns()
                compiled(torch.ones(4))
                times.append((time.process_time_ns() - began) / 1e6)
    print("\ncompiling x + 1, CPU ms, median [quartiles]")
    for how, times in spent.items():
        low, middle, high = statistics.quantiles(times, n=4)
        print(f"  {how:<10} {middle:7.2f} [{low:.2f}, {high:.2f}]")


def main() -> None:
    """Measure both workloads and the compiles."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--backend", default="eager")
    parser.add_argument("--blocks", type=int, default=800)
    parser.add_argument("--copies", type=int, default=6)
    parser.add_argument("--compiles", type=int, default=40)
    options = parser.parse_args()
    torch.set_num_threads(1)

    x = torch.ones(4)
    small = variants(lambda: own(plus_one), options.backend, x, options.copies)
    measure(small, x, options.blocks, 60)
    show(f"x + 1 on 4 floats, backend {options.backend}", small)

    idx = next(iter(varlen_service.requests()))
    large = variants(varlen_service.load_model, options.backend, idx, 1)
    measure(large, idx, max(20, options.blocks // 8), 4)
    show(f"4-block transformer, 60 tokens, backend {options.backend}", large)
    compile_times(options.backend, options.compiles)


if __name__ == "__main__":
    main()
