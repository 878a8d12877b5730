"""The values that a stream brought: from its calls, its guards and its symbols."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from compile_ledger.facts.arm import Arm
from compile_ledger.facts.compile import Compile
from compile_ledger.judge.classify_guard import classify_guard
from compile_ledger.judge.stable.along import changed_along
from compile_ledger.judge.stable.causes import Cause, by_name, leading
from compile_ledger.judge.stable.level import judge_stable
from compile_ledger.judge.stable.values import short, some_values, values_brought
from compile_ledger.judge.view import View, look

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


def streamed(pattern: str, *compiles: Compile, **fields: Any) -> tuple[View, Cause]:
    view = look(make.healthy(calls=make.calls(pattern), compiles=compiles, **fields))
    found = leading(view.compiles)
    assert found is not None
    return view, found


def test_the_values_of_an_int_are_those_that_the_calls_brought() -> None:
    calls = [
        dataclasses.replace(call, constants={"stop": repr(4 + i)})
        for i, call in enumerate(make.calls("crrrrr"))
    ]
    made = [make.compile_at(i, "recompiled", f"0/{i - 1}: stop == {3 + i}") for i in range(1, 6)]
    arm = make.healthy(calls=tuple(calls), compiles=(make.compile_at(0), *made))
    (finding,) = judge_stable(make.arms(arm), make.EAGER_BACKEND).findings
    assert finding.sentence.startswith(
        "recompiles on a Python int: stop (4, 5, 6, ...): 6 distinct values in 6 calls"
    )
    assert (finding.expected, finding.actual, finding.first_call) == ("4", "", 1)


def test_dispatch_keys_are_told_apart_by_what_differs() -> None:
    text = (
        "tensor 'x' dispatch key set mismatch. expected DispatchKeySet(CPU, BackendSelect), "
        "actual DispatchKeySet(CPU, BackendSelect, AutogradCPU)"
    )
    view, found = streamed("cr..", make.compile_at(0), make.compile_at(1, "recompiled", text))
    assert some_values(view, found, 0) == ("without AutogradCPU", "with AutogradCPU")


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("<class 'case.Cell_0'>", "case.Cell_0"),
        ("'a'", "'a'"),
        ("x" * 50, "x" * 37 + "..."),
    ],
)
def test_values_are_shown_in_few_letters(value: str, shown: str) -> None:
    assert short(value) == shown


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ('f.__closure__[1].cell_contents == 1.0 (HINT: guard on "radius")', "radius"),
        ('f.__closure__[1].cell_contents.k == 1 (HINT: guard on "cfg".k)', "cfg.k"),
        ("___stack0 == 0.32", "___stack0, left by a graph break"),
        ("self.k == 3", "self.k"),
        ("G['STAGE'] == 'warmup-0'", "the global STAGE"),
        ("G['os'].environ._data[b'STEP'] == b'0'", "the global os.environ._data[b'STEP']"),
        ("fn._modules['1'].training == True", "fn[1].training"),
        (
            "tensor 'self._modules['fc']._parameters['bias']' rank mismatch. expected 1, actual 2",
            "self.fc.bias",
        ),
        (
            "tensor '___from_numpy(a)' size mismatch at index 0. expected 3, actual 4",
            "a",
        ),
    ],
)
def test_a_subject_has_the_name_that_the_user_knows(text: str, name: str) -> None:
    assert by_name(classify_guard(text)) == name


def sized(*sizes: dict[str, tuple[int, ...]]) -> tuple[View, Cause]:
    calls = make.calls("c" + "r" * (len(sizes) - 1))
    kept = tuple(dataclasses.replace(c, sizes=s) for c, s in zip(calls, sizes, strict=True))
    made = make.compile_at(1, "recompiled", make.size("grad", 0, 3, 5))
    view = look(make.healthy(calls=kept, compiles=(make.compile_at(0), made)))
    found = leading(view.compiles)
    assert found is not None
    return view, found


def test_inputs_that_change_size_along_with_the_named_one_are_named_too() -> None:
    view, found = sized(
        {"grad": (3, 4), "weight": (3, 4), "bias": (4,)},
        {"grad": (5, 4), "weight": (5, 4), "bias": (4,)},
        {"grad": (8, 4), "weight": (8, 4), "bias": (4,)},
    )
    assert changed_along(view, found, 0) == ", weight with it"


def test_the_axes_of_another_input_are_named_where_they_are_others() -> None:
    view, found = sized({"grad": (3,), "mask": (1, 3)}, {"grad": (5,), "mask": (1, 5)})
    assert changed_along(view, found, 0) == ", mask (axis 1) with it"


def test_an_input_that_changes_size_in_other_calls_is_not_named() -> None:
    view, found = sized(
        {"grad": (3,), "mask": (1,)}, {"grad": (5,), "mask": (1,)}, {"grad": (8,), "mask": (2,)}
    )
    assert changed_along(view, found, 0) == ""
