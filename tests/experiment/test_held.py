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
