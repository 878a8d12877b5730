"""What calls brought, in one line; and the calls one by one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from compile_ledger.facts.arm import Arm
from compile_ledger.facts.calls import Call
from compile_ledger.judge.call_table import call_tables
from compile_ledger.judge.inputs import inputs_line
from compile_ledger.judge.view import look
from compile_ledger.render.call_table import call_table

from . import make


def with_inputs(pattern: str, *given: dict[str, Any], **fields: Any) -> Arm:
    """An arm whose calls brought sizes (tuples) and constants (texts); the last repeats."""
    kept: list[Call] = []
    for number, call in enumerate(make.calls(pattern)):
        every = given[min(number, len(given) - 1)]
        sizes = {name: value for name, value in every.items() if isinstance(value, tuple)}
        constants = {name: value for name, value in every.items() if isinstance(value, str)}
        kept.append(replace(call, sizes=sizes, constants=constants))
    return make.healthy(**{"calls": tuple(kept), **fields})


def said(arm: Arm) -> str | None:
    (cell,) = inputs_line(look(arm)).cells
    return cell.value


def test_what_never_changes_is_said_in_short() -> None:
    arm = with_inputs("c...", {"x": (8, 64), "scale": (), "flag": "True", "k": "3"})
    assert said(arm) == "always: x 8x64, scale 0-d, flag True, k 3"


def test_the_most_frequent_lengths_come_first() -> None:
    lengths = (60, 63, 60, 19, 19, 19, 1, 2, 3, 4, 5)
    arm = with_inputs("c" + "." * 10, *({"idx": (1, n), "s": "'a'"} for n in lengths))
    assert said(arm) == (
        "idx axis 1: 8 lengths in 11 calls: 19 x3, 60 x2, 63, 1, 2, 3, ... 2 more; always: s 'a'"
    )


def test_axes_ranks_constants_and_absent_arguments_are_told_apart() -> None:
    both = with_inputs("c..", {"x": (2, 4)}, {"x": (2, 5)}, {"x": (3, 5)})
    assert said(both) == (
        "x axis 0: 2 lengths in 3 calls: 2 x2, 3; x axis 1: 2 lengths in 3 calls: 5 x2, 4"
    )
    ranks = with_inputs("c.", {"x": (2, 4)}, {"x": (2,)})
    assert said(ranks) == "x: 2 shapes in 2 calls: 2x4, 2"
    numbers = with_inputs("c..", {"k": "1"}, {"k": "2"}, {})
    assert said(numbers) == "k: 2 values in 2 of 3 calls: 1, 2"
    sometimes = with_inputs("c..", {"x": (2, 4), "mask": (2,)}, {"x": (2, 4)})
    assert said(sometimes) == "mask 2 in 1 of 3 calls; always: x 2x4"


def test_regions_have_a_cell_each_and_facts_without_arguments_say_so() -> None:
    other = tuple(replace(c, region=1, sizes={"y": (3,)}) for c in make.calls("c."))
    arm = with_inputs("c..", {"x": (2,)}, regions=(make.region(), make.region(1, "decode")))
    cells = inputs_line(look(replace(arm, calls=(*arm.calls, *other)))).cells
    assert [(cell.name, cell.value) for cell in cells] == [
        ("encode", "always: x 2"),
        ("decode", "always: y 3"),
    ]
    alike = (make.region(), make.region(1))
    (cell,) = inputs_line(look(replace(arm, calls=(*arm.calls, *other), regions=alike))).cells
    assert cell.value == "x 2 in 3 of 5 calls; y 3 in 2 of 5 calls", "one line made both"
    (cell,) = inputs_line(look(make.healthy("recorded", calls=()))).cells
    assert cell.value is None
    assert "keep no call's arguments" in cell.why


def _varied() -> list[str]:
    reason = make.size("x", 1, 60, 63)
    arm = with_inputs(
        "cr.....f",
        *({"x": (1, n)} for n in (60, 63, 63, 63, 60, 60, 60, 7)),
        name="capture",
        compiles=(make.compile_at(0), make.compile_at(1, "recompiled", f"0/0: {reason}")),
    )
    eager = replace(make.eager(), calls=make.calls("........"))
    (table,) = call_tables(make.arms(eager, arm))
    assert table.eager_ns is not None
    return list(call_table(table))


def test_calls_are_told_one_by_one_with_what_refused() -> None:
    lines = _varied()
    assert all(len(line) <= 80 for line in lines)
    text = "\n".join(lines)
    assert "x 1x60" in text
    assert "refused by 0/0: x axis 1 is 63, not 60" in text
    assert "and 1 call more, reused alike" in text
    assert "total: eager" in text
    assert [line.split()[3] for line in lines if line.lstrip().startswith("7 ")] == ["E"]


def test_what_no_call_brought_is_told_apart_from_what_is_not_kept() -> None:
    def why(name: str) -> str:
        (cell,) = inputs_line(look(make.arm(name, regions=(make.region(),)))).cells
        return cell.why

    assert why("capture") == "no region was called"
    assert "keep no call's arguments" in why("recorded")
