"""Steady state: calls made in two ways interleaved at random in one process.

Each round times one call of each side on the same inputs, in a random order: the first
way, the first way again (the A/A side, which says what this machine makes of no
difference), and the second way: eager and compiled, or as it is and without a break.
A backward pass that belongs to the call is timed with it, outside what is set around the call.
Process CPU time is the figure; wall time goes beside it. On an accelerator the device is
synchronised around each call and wall time stands in both places.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any

from compile_ledger.facts.timing import SteadyState

SIDES = ("first", "again", "second")
"""One call of the first way, the same again (the A/A side), and one of the second way."""
MOST_ROUNDS = 400
BUDGET_NS = 30_000_000_000
LEAST_ROUNDS = 30
"""Rounds that are made past the budget; past twice the budget a third of them is enough."""

Thunk = Callable[[], Any]


@dataclass
class Samples:
    """CPU and wall nanoseconds of each side."""

    cpu: dict[str, list[int]] = field(default_factory=lambda: {side: [] for side in SIDES})
    wall: dict[str, list[int]] = field(default_factory=lambda: {side: [] for side in SIDES})


def _nothing() -> None:
    return None


@dataclass(frozen=True)
class Pair:
    """One call, both ways, and what is set around it (not timed)."""

    first: Thunk
    second: Thunk
    around: Callable[[], AbstractContextManager[Any]]
    ready: Callable[[], Any] = _nothing
    """Makes things as the call met them, before each time; not timed."""
    then: Callable[[Any], Thunk] | None = None
    """From the call's result to what is timed after it: its backward pass."""
    eager: bool = False
    """Whether the first way runs under the stance ``force_eager``, for regions inside it."""

    def run(self, side: str) -> tuple[int, int]:
        """One call and what follows it: CPU and wall nanoseconds."""
        self.ready()
        with self._stance(side), self.around():
            thunk = self.second if side == "second" else self.first
            result, cpu, wall = _time(thunk, keep=self.then is not None)
        if self.then is not None:
            _, more_cpu, more_wall = _time(self.then(result), keep=False)
            cpu, wall = cpu + more_cpu, wall + more_wall
        return cpu, wall

    def _stance(self, side: str) -> AbstractContextManager[Any]:
        import torch

        if not self.eager or side == "second":
            return nullcontext()
        stance: AbstractContextManager[Any] = torch.compiler.set_stance("force_eager")
        return stance


def interleave(
    pairs: Sequence[Pair], seed: int, still: Callable[[], int], budget: int = BUDGET_NS
) -> tuple[Samples, int]:
    """Time pairs in turn until the budget (nanoseconds) is spent.

    ``still()`` counts compiles so far: a round in which it grew is dropped.
    Returns the samples and the number of rounds dropped.
    """
    order = random.Random(seed)  # noqa: S311  not for secrets
    samples, dropped = Samples(), 0
    for pair in pairs:
        for side in ("first", "second", "second"):
            pair.run(side)
    began = time.perf_counter_ns()
    for number in range(MOST_ROUNDS):
        spent = time.perf_counter_ns() - began
        least = LEAST_ROUNDS if spent < 2 * budget else LEAST_ROUNDS // 3
        if spent > budget and number >= least:
            break
        dropped += not _round(pairs[number % len(pairs)], order, samples, still)
    return samples, dropped


def _round(pair: Pair, order: random.Random, samples: Samples, still: Callable[[], int]) -> bool:
    sides = list(SIDES)
    order.shuffle(sides)
    before = still()
    taken = {side: pair.run(side) for side in sides}
    if still() != before:
        return False
    for side, (cpu, wall) in taken.items():
        samples.cpu[side].append(cpu)
        samples.wall[side].append(wall)
    return True


def _time(thunk: Thunk, *, keep: bool) -> tuple[Any, int, int]:
    """The result, and CPU (on a device: wall) and wall nanoseconds.

    A result that nothing follows is freed while the clock runs, as in a program.
    """
    synchronise = _synchronise()
    synchronise()
    cpu, wall = time.process_time_ns(), time.perf_counter_ns()
    result = None
    if keep:
        result = thunk()
    else:
        thunk()
    synchronise()
    took = time.perf_counter_ns() - wall
    spent = time.process_time_ns() - cpu
    return result, (took if _on_device() else spent), took


def _on_device() -> bool:
    import torch

    return bool(torch.cuda.is_available() and torch.cuda.is_initialized())


def _synchronise() -> Callable[[], Any]:
    import torch

    return torch.cuda.synchronize if _on_device() else _nothing


def as_fact(region: int, design: str, samples: Samples, dropped: int) -> SteadyState:
    """The samples as a fact."""
    import torch

    return SteadyState(
        region=region,
        design=design,
        eager=tuple(samples.cpu["first"]),
        eager_again=tuple(samples.cpu["again"]),
        compiled=tuple(samples.cpu["second"]),
        wall_eager=tuple(samples.wall["first"]),
        wall_eager_again=tuple(samples.wall["again"]),
        wall_compiled=tuple(samples.wall["second"]),
        threads=torch.get_num_threads(),
        dropped=dropped,
    )
