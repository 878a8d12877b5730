"""Copies of targets: fp64 or as they are, sharing nothing, leaving no trace."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from compile_ledger.experiment.correctness.snapshot import Before
from compile_ledger.experiment.correctness.store import Store
from compile_ledger.experiment.correctness.twin import NoTwinError, Twin
from compile_ledger.experiment.correctness.watchers import Referee, run_twin

WEIGHT = torch.full((2,), 3.0)
LAYER = nn.Linear(2, 2)


class Counts(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.tensor([2.0, 4.0]))
        self.register_buffer("seen", torch.zeros(1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.seen.add_(1)
        return x * self.scale


class Owner:
    def __init__(self) -> None:
        self.model = Counts()
        self.offset = torch.ones(2)

    def run(self, x: torch.Tensor) -> torch.Tensor:
        return self.model(x) + self.offset


SEEN = Counts()
STAGE = 0
PAIR = (SEEN, 3)


def helper(x: torch.Tensor) -> torch.Tensor:
    global STAGE  # noqa: PLW0603
    STAGE += 1
    return SEEN(x)


def through_a_helper(x: torch.Tensor) -> torch.Tensor:
    return SEEN(helper(x)) + STAGE


def in_a_tuple(x: torch.Tensor) -> torch.Tensor:
    return PAIR[0](x)


def in_a_comprehension(x: torch.Tensor) -> list[torch.Tensor]:
    return [SEEN(part) for part in (x, x)]


def factorial(x: torch.Tensor) -> torch.Tensor:
    return x * factorial(x - 1) if x.sum() > 0 else WEIGHT.add_(1)


def scaled(x: torch.Tensor, *, by: float = 2.0) -> torch.Tensor:
    return LAYER(x) * WEIGHT * by


def test_an_fp64_copy_of_a_module_computes_in_fp64_and_leaves_the_module_alone() -> None:
    module = Counts()
    twin = Twin().target(module)
    assert twin(torch.ones(2, dtype=torch.float64)).dtype == torch.float64
    assert module.seen.item() == 0
    assert module.scale.dtype == torch.float32


@pytest.mark.parametrize("double", [True, False])
def test_a_copy_of_a_function_runs_over_copies_of_its_globals(double: bool) -> None:  # noqa: FBT001
    dtype = torch.float64 if double else torch.float32
    twin = Twin(double=double).target(scaled)
    assert twin(torch.ones(2, dtype=dtype)).dtype == dtype
    assert torch.equal(twin(torch.ones(2, dtype=dtype), by=0.0), torch.zeros(2, dtype=dtype))
    assert (WEIGHT.dtype, LAYER.weight.dtype) == (torch.float32, torch.float32)


def test_a_copy_of_a_bound_method_runs_over_a_copy_of_its_owner() -> None:
    owner = Owner()
    result = Twin().target(owner.run)(torch.ones(2, dtype=torch.float64))
    assert torch.equal(result, torch.tensor([3.0, 5.0], dtype=torch.float64))
    assert owner.model.seen.item() == 0


def test_a_copy_of_a_closure_runs_over_copies_of_what_it_closes_over() -> None:
    weight = torch.ones(2)

    def adds(x: torch.Tensor) -> torch.Tensor:
        return weight.add_(x)

    assert torch.equal(Twin(double=False).target(adds)(torch.ones(2)), torch.full((2,), 2.0))
    assert torch.equal(weight, torch.ones(2))


@pytest.mark.parametrize("target", [through_a_helper, in_a_tuple, in_a_comprehension])
def test_modules_are_copied_wherever_a_function_holds_them(target: Any) -> None:
    twin = Twin().target(target)
    result = twin(torch.ones(2, dtype=torch.float64))
    assert [part.dtype for part in result if part.ndim] in ([], [torch.float64] * 2)
    assert (SEEN.seen.item(), STAGE, SEEN.scale.dtype) == (0, 0, torch.float32)


def test_one_module_held_by_two_functions_is_one_copy_and_so_are_their_globals() -> None:
    assert torch.equal(
        Twin(double=False).target(through_a_helper)(torch.ones(2)), torch.tensor([5.0, 17.0])
    )


def test_a_function_that_calls_itself_is_copied_once() -> None:
    Twin(double=False).target(factorial)(torch.ones(2))
    assert torch.equal(WEIGHT, torch.full((2,), 3.0))


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (torch.float16, torch.float64),
        (torch.bfloat16, torch.float64),
        (torch.float32, torch.float64),
        (torch.complex64, torch.complex128),
        (torch.int32, torch.int32),
        (torch.bool, torch.bool),
    ],
)
def test_only_floats_become_fp64(given: torch.dtype, expected: torch.dtype) -> None:
    value = torch.ones(2).to(given)
    double, plain = Twin().value([value])[0], Twin(double=False).value([value])[0]
    assert (double.dtype, plain.dtype) == (expected, given)
    assert double.data_ptr() != value.data_ptr() != plain.data_ptr()


def test_copies_keep_whether_gradients_are_asked_of_leaves() -> None:
    leaf = torch.ones(2, requires_grad=True)
    copies = Twin(double=False).value((leaf, leaf * 2, torch.ones(2)))
    assert [copy.requires_grad for copy in copies] == [True, False, False]


def test_a_copy_of_a_compiled_module_is_eager() -> None:
    module = Counts()
    module.compile(backend="eager")
    assert Twin().module(module)._compiled_call_impl is None
    assert module._compiled_call_impl is not None


@pytest.mark.parametrize("target", [torch.sin, len, object()])
def test_what_cannot_be_copied_says_so(target: Any) -> None:
    with pytest.raises(NoTwinError, match="cannot be copied"):
        Twin().target(target)


def test_a_module_that_refuses_to_be_copied_says_why() -> None:
    module = Counts()
    module.lock = iter([1])
    module.register_forward_pre_hook(lambda *_: None)
    module.stream = (n for n in range(3))
    with pytest.raises(NoTwinError, match="could not be copied: TypeError"):
        Twin().target(module)


def noisy(x: torch.Tensor) -> torch.Tensor:
    return x + torch.rand(2) + random.random()  # noqa: S311


def test_a_copys_run_puts_every_random_state_back() -> None:
    torch.manual_seed(3)
    random.seed(3)
    states = torch.get_rng_state(), random.getstate()
    content = run_twin(Twin(double=False), noisy, (torch.ones(2),), {})
    assert set(content["random_used"]) == {"torch random state", "Python random state"}
    assert torch.equal(torch.get_rng_state(), states[0])
    assert random.getstate() == states[1]


def writes_into(x: torch.Tensor, out: torch.Tensor) -> None:
    out.add_(x)


def test_a_copys_run_tells_outputs_and_mutations_and_changes_no_argument() -> None:
    out = torch.zeros(2)
    content = run_twin(Twin(double=False), writes_into, (torch.ones(2), out), {})
    assert torch.equal(content["tensors"]["mutated args[1]"], torch.ones(2))
    assert content["texts"] == {"out": "NoneType None"}
    assert torch.equal(out, torch.zeros(2))


class Trains:
    def __init__(self) -> None:
        self.model = Counts()
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=torch.tensor(0.1))
        self.loss: Callable[[torch.Tensor], torch.Tensor] = lambda y: (
            self.model.scale.sum() + y.sum()
        )

    def train(self, x: torch.Tensor) -> torch.Tensor:
        self.optimizer.zero_grad()
        self.loss(self.model(x)).backward()
        self.optimizer.step()
        return self.model.scale.detach()


@pytest.mark.parametrize("double", [False, True])
def test_a_copy_of_an_optimizers_step_has_the_gradients_that_it_steps_along(
    *, double: bool
) -> None:
    layer = nn.Linear(2, 2)
    optimizer = torch.optim.Adam(layer.parameters(), lr=0.1)
    layer(torch.ones(1, 2)).sum().backward()
    was = layer.weight.detach().clone()

    first = run_twin(Twin(double=double), optimizer.step, (), {})["tensors"]
    optimizer.step()
    second = run_twin(Twin(double=double), optimizer.step, (), {})["tensors"]

    wanted = torch.float64 if double else torch.float32
    moved = first["state param_groups[0]['params'][0]"]
    assert moved.dtype == second["state state[key 0]['exp_avg']"].dtype == wanted
    assert torch.allclose(moved, layer.weight.to(wanted))
    assert not torch.equal(moved, was.to(wanted))
    assert second["state state[key 0]['step']"] == 2


def test_an_optimizer_and_the_model_of_one_object_stay_together() -> None:
    trains = Trains()
    given = torch.ones(2)

    result = Twin(double=False).target(trains.train)(given)

    assert trains.model.scale.tolist() == [2.0, 4.0]
    assert trains.model.scale.grad is None
    assert torch.equal(result, trains.train(given))
    assert Twin().target(trains.train)(given.double()).dtype == torch.float64


def descend(weight: torch.Tensor) -> torch.Tensor:
    assert weight.grad is not None
    return weight.detach() - weight.grad


def test_a_copy_of_an_argument_has_its_gradient() -> None:
    weight = torch.ones(2, requires_grad=True)
    (weight * 3).sum().backward()
    found = run_twin(Twin(), descend, (weight,), {})["tensors"]
    assert found["out"].tolist() == [-2.0, -2.0]
    assert found["out"].dtype == torch.float64


def test_a_call_that_cannot_be_made_in_fp64_has_no_reference(tmp_path: Path) -> None:
    store = Store(tmp_path)
    referee = Referee(store, 8)
    single = torch.ones(2, 2)

    referee.prepare(0, 0, Before(), (LAYER, (single,), {}))
    referee.prepare(0, 1, Before(), (lambda x: x.mm(torch.ones(2, 2)), (single,), {}))

    assert store.load(0, 0) is not None
    assert store.load(0, 1) is None
