"""The steady state: samples of all regions, weighed by how often each is called."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from compile_ledger.facts.timing import SteadyState
from compile_ledger.judge.bootstrap import difference, paired, quotient, single
from compile_ledger.judge.choose import STEADY, Arms
from compile_ledger.judge.document import Cost, Interval


@dataclass(frozen=True, slots=True)
class Samples:
    """Nanoseconds of one average call, sample by sample. CPU time unless named wall."""

    eager: tuple[float, ...]
    again: tuple[float, ...]
    compiled: tuple[float, ...]
    wall_eager: tuple[float, ...]
    wall_compiled: tuple[float, ...]


def steady_facts(arms: Arms) -> tuple[SteadyState, ...]:
    """The steady-state facts of whichever arm took them."""
    names = [STEADY, *(name for name in arms if name != STEADY)]
    found = (arms[name].steady for name in names if name in arms)
    return next((facts for facts in found if facts), ())


def samples(arms: Arms) -> Samples | str:
    """The samples of an average call; else why there are none."""
    facts = steady_facts(arms)
    taken = [fact for fact in facts if fact.eager and fact.compiled]
    if not taken:
        why = next((fact.why for fact in facts if fact.why), "")
        return why or "no steady-state sample was taken"
    weights = _weights(arms, taken)
    return Samples(
        _mixed([fact.eager for fact in taken], weights),
        _mixed([fact.eager_again for fact in taken], weights),
        _mixed([fact.compiled for fact in taken], weights),
        _mixed([fact.wall_eager for fact in taken], weights),
        _mixed([fact.wall_compiled for fact in taken], weights),
    )


def designs(arms: Arms) -> str:
    """What was timed, of the calls that weigh most."""
    taken = [fact for fact in steady_facts(arms) if fact.eager] or list(steady_facts(arms))
    weights = _weights(arms, taken) if taken else []
    found = max(zip(weights, taken, strict=True), key=lambda one: one[0], default=None)
    return found[1].design if found else ""


def steady_cost(found: Samples) -> Cost:
    """The ledger's steady-state cells: call times, saving, ratio, noise."""
    return Cost(
        eager_call=single(found.eager),
        compiled_call=single(found.compiled),
        saving_per_call=paired(found.eager, found.compiled, difference),
        ratio=paired(found.eager, found.compiled, quotient),
        noise=paired(found.eager, found.again, quotient),
        wall_ratio=paired(found.wall_eager, found.wall_compiled, quotient),
    )


def resolved(cost: Cost) -> str:
    """Why the saving is inside the noise; empty when it is resolved."""
    saving, ratio, noise = cost.saving_per_call, cost.ratio, cost.noise
    if saving.low is None or saving.high is None or ratio.value is None:
        return saving.why or "no interval of the saving"
    if noise.low is None or noise.high is None:
        return f"no A/A interval: {noise.why}"
    effect = abs(ratio.value - 1)
    band = f"the A/A interval [{noise.low:.3f}, {noise.high:.3f}]"
    if max(noise.high - noise.low, abs(noise.low - 1), abs(noise.high - 1)) > effect:
        return f"{band} is wider than the effect ({effect:.1%})"
    if saving.low <= 0 <= saving.high:
        return f"the interval of the saving includes zero ({_micro(saving)} per call)"
    low, high = ratio.low or 0.0, ratio.high or 0.0
    if low <= noise.high and noise.low <= high:
        return f"{band} overlaps that of the ratio [{low:.3f}, {high:.3f}]"
    return ""


def _micro(interval: Interval) -> str:
    low, high = (interval.low or 0.0) / 1e3, (interval.high or 0.0) / 1e3
    return f"[{low:.1f}, {high:.1f}] us"


def _weights(arms: Arms, taken: Sequence[SteadyState]) -> list[float]:
    """The share of each fact's calls in the stream: its region's, and its kind's in that."""
    counted = [Counter(call.region for call in arm.calls) for arm in arms.values()]
    calls = max(counted, key=lambda c: sum(c.values()), default=Counter[int]())
    numbers = [fact.share * calls.get(fact.region, 0) for fact in taken]
    total = sum(numbers)
    return [n / total for n in numbers] if total else [1 / len(taken)] * len(taken)


def _mixed(columns: Sequence[Sequence[int]], weights: Sequence[float]) -> tuple[float, ...]:
    rows = zip(*columns, strict=False)
    return tuple(sum(w * x for w, x in zip(weights, row, strict=True)) for row in rows)
