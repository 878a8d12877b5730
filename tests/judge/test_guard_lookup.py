"""The guard lookup's cell: what a call takes, and when that is not told from noise."""

import random
from typing import Any

from compile_ledger.facts.arm import Arm
from compile_ledger.facts.timing import GuardLookup
from compile_ledger.judge.document import Cost, GuardCost, Interval
from compile_ledger.judge.worth_it.guard_lookup import guard_cost, lookup_cell, unresolved


def around(middle: float, noise: float = 5.0) -> tuple[float, ...]:
    draw = random.Random(middle)  # noqa: S311  not for secrets
    return tuple(middle + draw.uniform(-noise, noise) for _ in range(60))


def lookup(**fields: Any) -> GuardLookup:
    given = {"entries": 4, "before": 3.0, "taken": 1.0, "nothing": around(100)}
    sides = {"took": around(8100), "refused": around(600), "again": around(8101)}
    return GuardLookup(0, **{**given, **sides, **fields})


def judged(*found: GuardLookup, compiled: float | None = None) -> GuardCost:
    return guard_cost(
        {"steady": Arm("steady", guard_lookups=found)}, Cost(compiled_call=Interval(compiled))
    )


def test_a_call_pays_the_entry_that_takes_it_and_those_asked_before() -> None:
    found = judged(lookup(), compiled=95_000.0)
    assert found.per_call.value is not None
    assert abs(found.per_call.value - 9500) < 20
    assert found.per_refusal.value is not None
    assert abs(found.per_refusal.value - 500) < 10
    assert lookup_cell(found).value == (
        "9.50 [9.50, 9.50] us a call, 10.0% of a compiled call; 4 entries, "
        "3.0 asked in vain by a call, 0.50 [0.50, 0.50] us for each that refuses "
        "(so 2.00 us for a call that all of them refuse)"
    )


def test_a_call_that_nothing_takes_pays_every_entry() -> None:
    found = judged(lookup(took=(), taken=0.0, before=4.0, again=around(600.5)))
    assert found.per_call.value is not None
    assert abs(found.per_call.value - 2000) < 40


def test_a_lookup_inside_the_noise_has_no_value() -> None:
    found = judged(lookup(before=0.0, refused=(), took=around(130, 90), again=around(170, 90)))
    cell = lookup_cell(found)
    assert cell.value is None
    assert cell.why.startswith("not resolved: the A/A difference is up to ")


def test_without_samples_the_cell_says_why() -> None:
    assert unresolved(judged()) == "no steady-state sample was taken"
    assert unresolved(judged(GuardLookup(0, why="this torch lacks X"))) == "this torch lacks X"
    assert guard_cost({}, Cost()).why == "no steady-state sample was taken"


def test_of_several_regions_the_busiest_is_shown_without_a_share() -> None:
    other = GuardLookup(1, why="the root has no entry that could be asked")
    found = judged(other, lookup(), compiled=95_000.0)
    assert (found.region, found.share) == (0, None)
