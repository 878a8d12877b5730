"""What the guard lookup takes of a steady call, and whether that is told from noise."""

from __future__ import annotations

from collections.abc import Sequence

from compile_ledger.facts.timing import GuardLookup
from compile_ledger.judge.bootstrap import difference, paired, single, width
from compile_ledger.judge.choose import STEADY, Arms
from compile_ledger.judge.document import Cell, Cost, GuardCost, Interval
from compile_ledger.judge.words import count

TOOL = "checks of copied guards, CPU time (steady arm)"


def guard_cost(arms: Arms, spent: Cost) -> GuardCost:
    """The lookup of the busiest region's root, per call and per refusing entry."""
    facts = arms[STEADY].guard_lookups if STEADY in arms else ()
    found = next((fact for fact in _busiest_first(arms, facts) if fact.again), None)
    if found is None:
        why = next((fact.why for fact in facts if fact.why), "")
        return GuardCost(why=why or "no steady-state sample was taken")
    per_call = single(_per_call(found))
    share = None
    if per_call.value is not None and spent.compiled_call.value and len(facts) == 1:
        share = per_call.value / spent.compiled_call.value
    return GuardCost(
        region=found.region,
        entries=found.entries,
        before=found.before,
        per_call=per_call,
        per_refusal=paired(found.refused, found.nothing, difference),
        noise=paired(found.again, found.took or found.refused, difference),
        share=share,
    )


def _busiest_first(arms: Arms, facts: Sequence[GuardLookup]) -> list[GuardLookup]:
    calls = [call.region for call in arms[STEADY].calls] if STEADY in arms else []
    return sorted(facts, key=lambda fact: -calls.count(fact.region))


def _per_call(found: GuardLookup) -> list[float]:
    """Of each round: the check that takes the call, and those that refuse it before."""
    took = _beyond(found.took, found.nothing) or [0.0] * len(found.nothing)
    refused = _beyond(found.refused, found.nothing) or [0.0] * len(found.nothing)
    return [found.taken * a + found.before * b for a, b in zip(took, refused, strict=False)]


def _beyond(side: Sequence[float], nothing: Sequence[float]) -> list[float]:
    return [a - b for a, b in zip(side, nothing, strict=False)]


def unresolved(found: GuardCost) -> str:
    """Why the lookup cannot be told from noise; empty when it can."""
    low = found.per_call.low
    if low is None:
        return found.per_call.why or found.why
    if found.noise.low is None or found.noise.high is None:
        return f"no A/A interval: {found.noise.why}"
    band = max(width(found.noise), abs(found.noise.low), abs(found.noise.high))
    if low <= band:
        return f"not resolved: the A/A difference is up to {band:,.0f} ns a check"
    return ""


def lookup_cell(found: GuardCost) -> Cell:
    """The ledger's cell, or why it has no value."""
    why = unresolved(found)
    if why:
        return Cell("guard lookup", None, "", why)
    share = f", {found.share:.1%} of a compiled call" if found.share is not None else ""
    text = f"{_micro(found.per_call)} us a call{share}; {count(found.entries, 'entry', 'entries')}"
    if found.before:
        text += f", {found.before:.1f} asked in vain by a call"
    if found.per_refusal.value is not None:
        text += f", {_micro(found.per_refusal)} us for each that refuses"
        every = found.per_refusal.value * found.entries / 1e3
        text += f" (so {every:.2f} us for a call that all of them refuse)"
    return Cell("guard lookup", text, TOOL)


def _micro(found: Interval) -> str:
    value, low, high = ((n or 0.0) / 1e3 for n in (found.value, found.low, found.high))
    return f"{value:.2f} [{low:.2f}, {high:.2f}]"
