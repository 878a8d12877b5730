"""Steady state: calls made in two ways interleaved at random in one process.

Each round times one call of each side on the same inputs, in a random order: the first
way, the first way again (the A/A side, which says what this machine makes of no
difference), and the second way: eager and compiled, or as it is and without a break.
Process CPU time is the figure; wall time goes beside it. On an accelerator the device is
synchronised around each call and wall time stands in both places.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any

from compile_ledger.facts.timing import SteadyState

SIDES = ("first", "again", "second")
"""One call of the first way, the same again (the A/A side), and one of the second way."""
MOST_ROUNDS = 400
BUDGET_NS = 30_000_000_000
LEAST_ROUNDS = 30

Thunk = Callable[[], Any]


@dataclass
class Samples:
    """CPU and wall nanoseconds of each side."""

    cpu: dict[str, list[int]] = field(default_factory=lambda: {side: [] for side in SIDES})
    wall: dict[str, list[int]] = field(default_factory=lambda: {side: [] for side in SIDES})


@dataclass(frozen=True)
class Pair:
    """One call, both ways, and what is set around it (not timed)."""

    first: Thunk
    second: Thunk
    around: Callable[[], AbstractContextManager[Any]]


def interleave(pairs: Sequence[Pair], seed: int, still: Callable[[], int]) -> tuple[Samples, int]:
    """Time pairs in turn until the budget is spent.

    ``still()`` counts compiles so far: a round in which it grew is dropped.
    Returns the samples and the number of rounds dropped.
    """
    order = random.Random(seed)  # noqa: S311  not for secrets
    samples, dropped = Samples(), 0
    for pair in pairs:
        for thunk in (pair.first, pair.second, pair.second):
            with pair.around():
                thunk()
    deadline = time.perf_counter_ns() + BUDGET_NS
    for number in range(MOST_ROUNDS):
        if time.perf_counter_ns() > deadline and number >= LEAST_ROUNDS:
            break
        dropped += not _round(pairs[number % len(pairs)], order, samples, still)
    return samples, dropped


def _round(pair: Pair, order: random.Random, samples: Samples, still: Callable[[], int]) -> bool:
    sides = list(SIDES)
    order.shuffle(sides)
    before = still()
    taken = {side: _time(pair, side) for side in sides}
    if still() != before:
        return False
    for side, (cpu, wall) in taken.items():
        samples.cpu[side].append(cpu)
        samples.wall[side].append(wall)
    return True


def _time(pair: Pair, side: str) -> tuple[int, int]:
    thunk = pair.second if side == "second" else pair.first
    synchronise = _synchronise()
    with pair.around():
        synchronise()
        cpu, wall = time.process_time_ns(), time.perf_counter_ns()
        thunk()
        synchronise()
        took = time.perf_counter_ns() - wall
        spent = time.process_time_ns() - cpu
    return (took if _on_device() else spent), took


def _on_device() -> bool:
    import torch

    return bool(torch.cuda.is_available() and torch.cuda.is_initialized())


def _synchronise() -> Callable[[], Any]:
    import torch

    return torch.cuda.synchronize if _on_device() else _nothing


def _nothing() -> None:
    return None


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
