"""What the guard lookup alone takes: checks of copies of the guards, timed in batches.

Each round times a batch of each side next to each other, in random order, on the locals
of one of the region's last calls: no guard at all, the entry that takes the call, the
same again (the A/A side), an entry that refuses it.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from itertools import repeat
from typing import Any

from compile_ledger.facts.timing import GuardLookup
from compile_ledger.observe.cache_line.checks import Check, checks, no_check
from compile_ledger.observe.cache_line.target import Target, resolve
from compile_ledger.observe.capabilities import MissingError
from compile_ledger.observe.what_if.arguments import live_locals

ROUNDS = 60
BATCH_NS = 150_000
"""CPU time of one batch: long against the clock's own steps."""
_TRIAL = 4
_MOST = 2048

Around = Callable[[], AbstractContextManager[Any]]
Given = tuple[Any, Any, Around]
"""Arguments of a call, and the context that the program made it in."""


@dataclass
class Asked:
    """One call, and what each entry says of it."""

    values: dict[str, Any]
    around: Around
    said: list[bool]

    @property
    def first(self) -> int | None:
        """The entry that takes it, by its place in the line."""
        return self.said.index(True) if True in self.said else None


def guard_lookup(region: int, compiled: Any, calls: Sequence[Given], seed: int) -> GuardLookup:
    """Time the guard checks of a region's root for its last calls."""
    try:
        target = resolve(compiled)
        line, nothing = checks(target), no_check()
        asked = [_ask(target, line, call) for call in calls]
    except (MissingError, TypeError) as error:
        return GuardLookup(region, why=str(error))
    if not line or not asked:
        return GuardLookup(region, why="the root has no entry that could be asked")
    samples = _sample(asked, line, nothing, seed)
    return GuardLookup(
        region,
        entries=len(line),
        before=_before(asked),
        taken=sum(one.first is not None for one in asked) / len(asked),
        **samples,
    )


def _ask(target: Target, line: list[Check], call: Given) -> Asked:
    args, kwargs, around = call
    values = live_locals(target, args, kwargs)
    with around():
        return Asked(values, around, [check(values) for check in line])


def _before(asked: list[Asked]) -> float:
    """Entries asked in vain by each call, once the line has the order that these calls give it.

    The entry that serves a call goes to the front of the line.
    """
    order = list(range(len(asked[0].said)))
    vain = 0
    for number, one in enumerate([*asked, *asked]):
        at = next((i for i, entry in enumerate(order) if one.said[entry]), None)
        vain += (len(order) if at is None else at) if number >= len(asked) else 0
        if at is not None:
            order.insert(0, order.pop(at))
    return vain / len(asked)


def _sample(asked: list[Asked], line: list[Check], nothing: Check, seed: int) -> dict[str, Any]:
    """Nanoseconds of one check, by side."""
    draw = random.Random(seed)  # noqa: S311  not for secrets
    useful = [one for one in asked if one.first is not None] or asked
    found: dict[str, Any] = {}
    for number in range(ROUNDS):
        one = useful[number % len(useful)]
        sides = _sides(one, line, nothing, number)
        names = list(sides)
        draw.shuffle(names)
        with one.around():
            for name in names:
                found[name] = (*found.get(name, ()), _batch(sides[name], one.values))
    return found


def _sides(one: Asked, line: list[Check], nothing: Check, number: int) -> dict[str, Check]:
    refusing = [check for check, said in zip(line, one.said, strict=True) if not said]
    sides = {"nothing": nothing}
    if one.first is not None:
        sides["took"] = line[one.first]
    if refusing:
        sides["refused"] = refusing[number % len(refusing)]
    return {**sides, "again": sides.get("took") or sides["refused"]}


def _batch(check: Check, values: dict[str, Any]) -> float:
    """CPU nanoseconds of one check, over as many as make a batch."""
    trial = _timed(check, values, _TRIAL)
    number = max(_TRIAL, min(_MOST, BATCH_NS * _TRIAL // max(trial, 1)))
    return _timed(check, values, number) / number


def _timed(check: Check, values: dict[str, Any], number: int) -> int:
    began = time.process_time_ns()
    for _ in repeat(None, number):
        check(values)
    return time.process_time_ns() - began
