"""What is compiled already is recognised: what it was made from, and how."""

from __future__ import annotations

import functools
import pickle
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn

from compile_ledger.experiment.shipping import ship
from compile_ledger.experiment.workload import Workload
from compile_ledger.observe.cache_line.target import is_compiled, name_of
from compile_ledger.observe.compiled import compiled, compiled_in_place

X = torch.ones(3, 4)
EAGER = {"backend": "eager"}


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Linear(4, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.inner(x).relu()

    def encode(self, x: torch.Tensor) -> torch.Tensor:
        return self.inner(x).sin()

    @torch.compile(backend="eager", dynamic=True)
    def decorated(self, x: torch.Tensor) -> torch.Tensor:
        return self.inner(x).cos()


def double(x: torch.Tensor, by: int = 2) -> torch.Tensor:
    return x * by


def in_place() -> Net:
    net = Net()
    net.compile(backend="eager", fullgraph=True)
    return net


def replaced_forward() -> Net:
    net = Net()
    net.forward = torch.compile(net.forward, backend="eager")  # type: ignore[method-assign]
    return net


MADE: dict[str, tuple[Callable[[], Any], str, dict[str, Any]]] = {
    "module": (lambda: torch.compile(Net(), **EAGER), "Net", EAGER),
    "its forward": (lambda: torch.compile(Net(), **EAGER).forward, "Net", EAGER),
    "its call": (lambda: torch.compile(Net(), **EAGER).__call__, "Net", EAGER),
    "function": (lambda: torch.compile(double, dynamic=False, **EAGER), "double", EAGER),
    "bound": (lambda: torch.compile(Net().encode, **EAGER), "Net.encode", EAGER),
    "decorated": (lambda: Net().decorated, "Net.decorated", {"dynamic": True, **EAGER}),
    "in place": (in_place, "Net", {"fullgraph": True, **EAGER}),
    "replaced forward": (replaced_forward, "Net", EAGER),
    "partial": (
        lambda: functools.partial(torch.compile(double, **EAGER), by=3),
        "partial of double",
        EAGER,
    ),
    "of a partial": (
        lambda: torch.compile(functools.partial(double, by=3), **EAGER),
        "partial of double",
        EAGER,
    ),
    "under no_grad": (
        lambda: torch.no_grad()(torch.compile(double, fullgraph=True, **EAGER)),
        "double",
        {"fullgraph": True},
    ),
}


@pytest.mark.parametrize("name", MADE)
def test_what_was_compiled_is_found_with_its_own_arguments(name: str) -> None:
    make, target, kwargs = MADE[name]
    thing = make()
    found = compiled(thing)
    assert found is not None
    assert found.kwargs.items() >= kwargs.items()
    assert name_of(thing) == target
    before = torch._dynamo.utils.counters["frames"]["total"]
    plain = found.fn(X)
    assert torch._dynamo.utils.counters["frames"]["total"] == before, "no frame reached Dynamo"
    assert torch.equal(plain, thing(X))


@pytest.mark.parametrize(
    "kwargs",
    [
        {"mode": "max-autotune-no-cudagraphs"},
        {"options": {"max_autotune": True, "epilogue_fusion": False}},
        {"recompile_limit": 3, "isolate_recompiles": True, "backend": "aot_eager"},
        {"backend": lambda graph, _inputs: graph},
        {},
    ],
)
def test_arguments_make_an_equal_region_again(kwargs: dict[str, Any]) -> None:
    first = compiled(torch.compile(double, **kwargs))
    assert first is not None
    again = compiled(torch.compile(first.fn, **first.kwargs))
    assert again is not None
    assert (again.fn, again.kwargs) == (first.fn, first.kwargs)
    assert {k: v for k, v in again.kwargs.items() if k in kwargs} == kwargs


@pytest.mark.parametrize(
    "thing", [Net(), double, torch.compiler.disable(double), Net().encode, 3, torch.relu]
)
def test_what_is_not_compiled_is_left_as_it_is(thing: Any) -> None:
    assert compiled(thing) is None


@pytest.mark.parametrize("name", MADE)
def test_it_is_compiled_anew_where_it_is_shipped_to(name: str, tmp_path: Any) -> None:
    make, target, _kwargs = MADE[name]
    thing = make()
    shipped = ship(Workload(thing, [X]), tmp_path)
    torch.compiler.reset()
    with open(shipped.path, "rb") as stream:  # noqa: PTH123
        workload = pickle.load(stream)  # noqa: S301  our own file
    found, mine = compiled(workload.fn), compiled(thing)
    assert found is not None
    assert mine is not None
    assert found.kwargs == mine.kwargs
    assert name_of(workload.fn) == target
    assert torch.equal(found.fn(X), mine.fn(X)), "the parameters came along"
    assert compiled_in_place(workload.fn) == (name == "in place")
    assert is_compiled(workload.fn) == is_compiled(thing)
