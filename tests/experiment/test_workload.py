"""A workload's calls in each form that they may have, and what is no workload."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from compile_ledger.experiment.workload import Workload, WorkloadError, as_call, from_module


def fn(*_: Any, **__: Any) -> None:
    return None


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (5, ((5,), {})),
        ([1, 2], (([1, 2],), {})),
        ({"a": 1}, (({"a": 1},), {})),
        ((), ((), {})),
        ((1,), ((1,), {})),
        ((1, 2), ((1, 2), {})),
        ((1, {"a": 2}), ((1, {"a": 2}), {})),
        (((1,), {"a": 2}), ((1,), {"a": 2})),
        (([1, 2], {}), ((1, 2), {})),
        (((), {}), ((), {})),
        (((1,), {}, 3), (((1,), {}, 3), {})),
    ],
)
def test_a_call_is_args_and_kwargs_or_a_tuple_or_one_argument(call: Any, expected: Any) -> None:
    assert as_call(call, 0) == expected


def test_keyword_names_that_are_no_strings_are_refused_with_the_calls_number() -> None:
    with pytest.raises(WorkloadError, match=r"call 3: .*string names"):
        as_call(((1,), {2: 3}), 3)


def test_calls_may_be_a_list_a_generator_or_a_function_that_makes_them() -> None:
    def source() -> Iterator[int]:
        yield from (1, 2)

    for calls in ([1, 2], source(), source, iter([1, 2])):
        assert list(Workload(fn, calls).each_call()) == [((1,), {}), ((2,), {})]


def test_a_function_of_calls_gives_a_new_stream_each_time() -> None:
    workload = Workload(fn, lambda: iter([1]))
    assert [len(list(workload.each_call())) for _ in range(2)] == [1, 1]


@pytest.mark.parametrize(
    ("target", "calls", "said"),
    [
        (3, [], "fn must be callable, not int"),
        (fn, 3, "calls must be an iterable of calls, not int"),
    ],
)
def test_what_is_no_workload_is_refused(target: Any, calls: Any, said: str) -> None:
    with pytest.raises(WorkloadError, match=said):
        Workload(target, calls)


def test_around_a_call_is_the_given_context_or_an_empty_one() -> None:
    seen: list[Any] = []

    @contextlib.contextmanager
    def around(index: int, target: Any) -> Iterator[None]:
        seen.append((index, target))
        yield

    with Workload(fn, [1], around_call=around).around(4, fn):
        assert seen == [(4, fn)]
    with Workload(fn, [1]).around(0, fn) as nothing:
        assert nothing is None


def test_a_pair_takes_the_modules_own_settings() -> None:
    module = SimpleNamespace(
        COMPILE_KWARGS={"dynamic": False},
        around_call=lambda _i, _t: contextlib.nullcontext(),
        state=lambda: 7,
    )
    workload = from_module((fn, [1]), module)
    assert workload
    assert (workload.fn, workload.calls, workload.compile) == (fn, [1], {"dynamic": False})
    assert workload.around_call is module.around_call
    assert workload.state is module.state


def test_a_pair_of_a_module_without_settings_has_none() -> None:
    workload = from_module((fn, [1]), SimpleNamespace())
    assert workload
    assert (workload.compile, workload.around_call, workload.state) == ({}, None, None)


def test_a_workload_is_itself_whatever_the_module_says() -> None:
    mine = Workload(fn, [1])
    assert from_module(mine, SimpleNamespace(COMPILE_KWARGS={"dynamic": True})) is mine


@pytest.mark.parametrize("value", [None, 3, (fn,), (3, [1]), (fn, 3), [fn, [1]], (fn, [1], {})])
def test_anything_else_is_no_workload(value: Any) -> None:
    assert from_module(value, SimpleNamespace()) is None
