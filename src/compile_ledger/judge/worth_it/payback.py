"""What a process pays before its steady state, and after how many calls it is repaid."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from itertools import pairwise
from statistics import median

from compile_ledger.facts.arm import Arm
from compile_ledger.facts.calls import Call
from compile_ledger.facts.contract import Contract
from compile_ledger.judge.choose import COLD, WARM, Arms
from compile_ledger.judge.document import Cost
from compile_ledger.judge.prices import compile_seconds
from compile_ledger.judge.view import look

from .guard_lookup import guard_cost
from .steady import Samples, designs, samples, steady_cost, steady_facts

_COMPILING = ("compiled", "recompiled", "refused", "switched_off")


def cost(arms: Arms, contract: Contract, deciding: Arm | None) -> Cost:
    """Every number of the ledger's cost line; ``why`` says what is lacking."""
    found = samples(arms)
    filled = steady_cost(found) if isinstance(found, Samples) else Cost(why=found)
    medians = _medians(arms)
    cold, warm = arms.get(COLD), arms.get(WARM)
    saving = filled.saving_per_call
    cold_own, warm_own = paid(cold, medians), paid(warm, medians)
    return dataclasses.replace(
        filled,
        design=designs(arms),
        compile_seconds=_compiling(deciding),
        compile_arm=deciding.name if deciding else "",
        cold_seconds=_with_process(cold_own, cold),
        warm_seconds=_with_process(warm_own, warm),
        cold_process_seconds=_process(cold),
        warm_process_seconds=_process(warm),
        cold_break_even=break_even(cold_own, saving.value),
        warm_break_even=break_even(warm_own, saving.value),
        horizon=contract.horizon,
        horizon_source="stated" if contract.horizon is not None else "",
        guards=guard_cost(arms, filled),
    )


def paid(arm: Arm | None, medians: dict[int, float]) -> float | None:
    """CPU seconds that one arm's regions cost beyond steady calls: the calls that compiled.

    A backward pass is compiled when it first runs, after the call: what follows a call that
    compiled counts, beyond what usually follows one that did not. What the process spent to
    get ready for compiling is apart: any program pays that.
    """
    if arm is None or not arm.ran or not arm.calls or not medians:
        return None
    inside = sum(_beyond(call, medians) for call in arm.calls)
    return (inside + sum(_after(arm))) / 1e9


def _after(arm: Arm) -> Iterator[float]:
    """CPU nanoseconds after each call that compiled, beyond the usual."""
    calls = sorted(arm.calls, key=lambda call: call.at_ns)
    pairs = [
        (call, after.between_cpu_ns)
        for call, after in pairwise(calls)
        if after.between_cpu_ns is not None
    ]
    usual: dict[int, list[int]] = {}
    for call, spent in pairs:
        if call.disposition == "reused":
            usual.setdefault(call.region, []).append(spent)
    for call, spent in pairs:
        if call.disposition in _COMPILING and call.region in usual:
            yield max(0.0, spent - median(usual[call.region]))


def _with_process(own: float | None, arm: Arm | None) -> float | None:
    return None if own is None else own + (_process(arm) or 0.0)


def break_even(seconds: float | None, saving: float | None) -> float | None:
    """Calls until a cost is repaid by a saving (nanoseconds a call); None: never."""
    if seconds is None or saving is None or saving <= 0:
        return None
    return seconds * 1e9 / saving


def _beyond(call: Call, medians: dict[int, float]) -> float:
    if call.disposition not in _COMPILING:
        return 0.0
    return max(0.0, call.cpu_ns - medians.get(call.region, 0.0))


def _process(arm: Arm | None) -> float | None:
    """CPU seconds of getting the compiler ready: not the region's doing."""
    if arm is None or arm.costs.prewarm is None:
        return None
    return arm.costs.prewarm / 1e9


def _medians(arms: Arms) -> dict[int, float]:
    """Region to CPU nanoseconds of a steady compiled call, its kinds by their share."""
    found: dict[int, list[tuple[float, float]]] = {}
    for fact in steady_facts(arms):
        if fact.compiled:
            found.setdefault(fact.region, []).append((fact.share, median(fact.compiled)))
    return {
        region: sum(share * took for share, took in kinds) / sum(share for share, _ in kinds)
        for region, kinds in found.items()
    }


def _compiling(arm: Arm | None) -> float | None:
    """Of compiles that left an entry; where none did, of those that were begun."""
    if arm is None:
        return None
    kept = [event for event in arm.compiles if event.kept]
    return compile_seconds(look(arm), kept or arm.compiles)
