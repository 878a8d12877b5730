"""What a region can change besides what it is given and what it returns."""

from __future__ import annotations

from typing import Any

import torch

from compile_ledger.experiment.correctness.held import held_leaves, held_values
from compile_ledger.experiment.correctness.snapshot import after_call, before_call

BUFFER = torch.zeros(2)
SEEN: dict[str, int] = {"calls": 0}
CONSTANT = 3


def touches(x: torch.Tensor) -> torch.Tensor:
    BUFFER.add_(CONSTANT)
    SEEN["calls"] += 1
    return x + 1


def through(x: torch.Tensor) -> torch.Tensor:
    return touches(x)


def changed_by(function: Any) -> dict[str, Any]:
    """What a call of ``function`` left, by path."""
    x = torch.ones(2)
    before = before_call(function, (x,), {})
    content = after_call(before, function(x))
    return {**content["texts"], **content["tensors"]}


def test_global_tensors_and_containers_are_held_and_constants_are_not() -> None:
    assert set(held_values(touches)) == {"BUFFER", "SEEN"}


def test_what_a_called_function_holds_is_held() -> None:
    assert set(held_values(through)) == {"BUFFER", "SEEN"}


def test_a_changed_global_tensor_and_dictionary_are_outputs() -> None:
    found = changed_by(through)
    assert torch.equal(found["state BUFFER"], BUFFER)
    assert found["state SEEN['calls']"] == f"int {SEEN['calls']}"


def test_what_did_not_change_is_no_output() -> None:
    def reads(x: torch.Tensor) -> torch.Tensor:
        return x * BUFFER + SEEN["calls"]

    assert set(changed_by(reads)) == {"out"}


class Counts(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm = torch.nn.BatchNorm1d(2, affine=False)
        self.register_buffer("mean", torch.zeros(2))
        self.calls = 0
        self.last = torch.zeros(2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.mean.data.add_(x.mean(0))
        self.calls += 1
        self.last = x[0] * 2
        return self.norm(x)


def left_by(module: torch.nn.Module, x: torch.Tensor) -> dict[str, Any]:
    before = before_call(module, (x,), {})
    content = after_call(before, module(x))
    return {**content["texts"], **content["tensors"]}


def test_what_changed_is_told_by_value_where_no_version_counter_rises() -> None:
    module = Counts()
    found = left_by(module, torch.randn(4, 2))
    norm = ("running_mean", "running_var", "num_batches_tracked")
    expected = ("mean", "calls", "last", *(f"norm.{name}" for name in norm))
    assert set(found) == {"out", *(f"state {name}" for name in expected)}
    assert torch.equal(found["state norm.running_mean"], module.norm.running_mean)
    assert found["state calls"] == "int 1"


def test_a_write_of_the_same_value_is_no_change() -> None:
    module = torch.nn.BatchNorm1d(2).eval()
    with torch.no_grad():
        module.running_mean.copy_(torch.tensor([torch.nan, 0.0]))

    def rewrites(x: torch.Tensor) -> torch.Tensor:
        module.running_mean.copy_(module.running_mean.clone())
        return x

    assert set(changed_by(rewrites)) == {"out"}


def test_modules_of_one_target_keep_their_names_apart() -> None:
    first, second = torch.nn.BatchNorm1d(2), torch.nn.BatchNorm1d(2)

    def both(x: torch.Tensor) -> torch.Tensor:
        return second(first(x.expand(3, 2) * torch.rand(3, 1)))

    names = {name for name in changed_by(both) if name.endswith("running_mean")}
    assert names == {"state first.running_mean", "state second.running_mean"}


def test_a_gradient_that_a_call_takes_away_is_an_output() -> None:
    weight = torch.nn.Parameter(torch.ones(2))
    optimizer = torch.optim.SGD([weight], lr=0.5)
    model = torch.nn.ParameterList([weight])
    weight.grad = torch.ones(2)

    def clears(x: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        return x * model[0].detach()

    assert changed_by(clears)["state grad of 0"] == "taken away"


def test_an_optimizer_is_watched_by_its_parameters_and_state() -> None:
    weight = torch.nn.Parameter(torch.ones(2))
    optimizer = torch.optim.SGD([weight], lr=0.5, momentum=0.9)
    weight.grad = torch.ones(2)

    def step() -> None:
        optimizer.step()

    paths = [path for path, leaf in held_leaves(held_values(step)) if leaf is weight]
    assert paths == ["state optimizer['param_groups'][0]['params'][0]"]


def test_keys_that_are_no_constants_are_named_by_place() -> None:
    key = object()
    paths = [path for path, _ in held_leaves({"table": {key: 1.0}})]
    assert paths[-1] == "state table[key 0]"
