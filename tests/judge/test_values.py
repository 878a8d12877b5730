"""How many sizes a stream brought: from its calls where they are kept."""

from __future__ import annotations

import dataclasses

from compile_ledger.facts.arm import Arm
from compile_ledger.judge.causes import leading
from compile_ledger.judge.values import values_brought
from compile_ledger.judge.view import look

from . import make


def with_sizes(arm: Arm, name: str = "idx") -> Arm:
    pairs = zip(arm.calls, make.LENGTHS, strict=True)
    sized = tuple(dataclasses.replace(call, sizes={name: (1, n)}) for call, n in pairs)
    return dataclasses.replace(arm, calls=sized)


def brought(arm: Arm) -> str:
    view = look(arm)
    found = leading(view.compiles)
    assert found is not None
    return values_brought(view, found, 0, unseen=3)


def test_sizes_of_silent_calls_count_where_calls_are_kept() -> None:
    assert brought(with_sizes(make.chapter("capture"))) == "12 distinct lengths"


def test_without_kept_sizes_the_reasons_give_a_lower_bound() -> None:
    assert brought(make.chapter("capture")) == "at least 9 distinct lengths"


def test_sizes_of_another_parameter_prove_nothing() -> None:
    assert brought(with_sizes(make.chapter("capture"), "mask")) == "at least 9 distinct lengths"
