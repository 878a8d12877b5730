"""Any value as named leaves, and hashes that change exactly when a leaf does."""

from __future__ import annotations

import random
from collections import OrderedDict, namedtuple
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from compile_ledger.experiment.correctness.fingerprint import (
    random_hashes,
    reachable_modules,
    state_hash,
    tensor_hash,
    value_hash,
)
from compile_ledger.experiment.correctness.leaves import leaves, tensors

ONE = torch.ones(2)
Point = namedtuple("Point", "x y")  # noqa: PYI024


@dataclass
class Output:
    logits: torch.Tensor
    loss: float


class Plain:
    def __init__(self) -> None:
        self.value, self.name = ONE, "n"


def paths(value: Any) -> list[str]:
    return [path for path, _ in leaves(value)]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (3, "int 3"),
        (True, "bool True"),
        (3.0, "float 3.0"),
        ("a", "str 'a'"),
        (None, "NoneType None"),
        (b"x", "bytes b'x'"),
        (1j, "complex 1j"),
        (torch.float16, "torch.dtype torch.float16"),
    ],
)
def test_a_scalar_is_a_text_that_names_its_type(value: Any, text: str) -> None:
    assert leaves(value) == [("out", text)]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (ONE, ["out"]),
        ([ONE, 3], ["out (type)", "out[0]", "out[1]"]),
        ((ONE,), ["out (type)", "out[0]"]),
        ({"a": ONE, 2: 3}, ["out (type)", "out['a']", "out[2]"]),
        (Output(ONE, 0.5), ["out (type)", "out.logits", "out.loss"]),
        (Plain(), ["out (type)", "out.name", "out.value"]),
        ({3, 1}, ["out (type)", "out{1}", "out{3}"]),
        (np.zeros(2), ["out (ndarray)"]),
        ([[ONE]], ["out (type)", "out[0] (type)", "out[0][0]"]),
    ],
)
def test_every_part_of_a_container_has_its_path(value: Any, expected: list[str]) -> None:
    assert paths(value) == expected


def test_containers_of_one_content_and_other_types_are_told_apart() -> None:
    pair = (ONE, ONE)
    kinds = [dict(leaves(v))["out (type)"] for v in (pair, [*pair], Point(*pair))]
    assert len(set(kinds)) == 3
    assert leaves({"a": 1}) != leaves(OrderedDict(a=1))


def test_a_cycle_and_a_great_depth_end_as_a_text() -> None:
    cycle: list[Any] = [1]
    cycle.append(cycle)
    assert leaves(cycle)[-1] == ("out[1]", "<list, not followed>")
    deep: Any = 0
    for _ in range(50):
        deep = [deep]
    assert leaves(deep)[-1][1] == "<list, not followed>"


def test_the_same_value_twice_is_two_leaves() -> None:
    assert len(tensors([ONE, ONE])) == 2


def test_modules_and_callables_are_named_and_not_entered() -> None:
    assert paths(nn.Linear(1, 1)) == ["out (type)"]
    assert paths(len) == ["out (type)"]


@pytest.mark.parametrize(
    "other",
    [ONE * 2, ONE.double(), ONE.reshape(1, 2), torch.ones(3), ONE.int(), ONE.to(torch.bfloat16)],
)
def test_a_hash_changes_with_values_dtype_and_shape(other: torch.Tensor) -> None:
    assert tensor_hash(other) != tensor_hash(ONE)


def test_a_hash_does_not_change_with_strides_or_storage() -> None:
    square = torch.arange(6.0).reshape(2, 3)
    assert tensor_hash(square) == tensor_hash(square.t().contiguous().t())
    assert tensor_hash(square[:, 1:]) == tensor_hash(square[:, 1:].clone())


@pytest.mark.parametrize(
    "tensor",
    [
        torch.empty(0, 3),
        torch.tensor(3.0),
        torch.ones(2, dtype=torch.bfloat16),
        torch.ones(2, dtype=torch.complex64).conj(),
        torch.ones(2, requires_grad=True),
        torch.eye(2).to_sparse(),
        torch.ones(2, dtype=torch.float8_e4m3fn),
        torch.ones(2, dtype=torch.bool),
        torch.ones(1).expand(4),
    ],
)
def test_tensors_of_every_kind_have_a_hash(tensor: torch.Tensor) -> None:
    assert len(tensor_hash(tensor)) == 40
    assert tensor_hash(tensor) == tensor_hash(tensor.clone())


def test_what_cannot_be_hashed_says_so() -> None:
    assert tensor_hash(torch.ones(2, device="meta")).startswith("unhashable: ")


def test_the_hash_of_a_value_is_that_of_its_leaves_and_paths() -> None:
    assert value_hash(([ONE], {"a": 1})) == value_hash(([ONE.clone()], {"a": 1}))
    others: list[Any] = [([ONE], {"a": 2}), ((ONE,), {"a": 1}), ([ONE], {"b": 1}), ([ONE, ONE], {})]
    hashes = {value_hash(other) for other in others}
    assert len(hashes) == 4
    assert value_hash(([ONE], {"a": 1})) not in hashes


def test_a_modules_hash_changes_with_parameters_buffers_and_training() -> None:
    module = nn.BatchNorm1d(2)
    hashes = [state_hash({"": module})]
    module.eval()
    hashes.append(state_hash({"": module}))
    with torch.no_grad():
        module.weight.add_(1)
    hashes.append(state_hash({"": module}))
    module.running_mean.add_(1)
    hashes.append(state_hash({"": module}))
    assert len(set(hashes)) == 4


def test_each_random_stream_has_a_hash_of_its_own() -> None:
    assert np.random
    before = random_hashes()
    assert set(before) == {"torch random state", "Python random state", "numpy random state"}
    moves: dict[str, Callable[[], Any]] = {
        "torch random state": lambda: torch.rand(1),
        "Python random state": random.random,
        "numpy random state": lambda: np.random.rand(1),  # noqa: NPY002
    }
    for name, move in moves.items():
        then = random_hashes()
        move()
        now = random_hashes()
        assert [n for n in now if now[n] != then[n]] == [name]


MODEL, OTHER = nn.Linear(1, 1), nn.Linear(1, 1)


def helper(x: torch.Tensor) -> torch.Tensor:
    return MODEL(x)


def through_a_helper(x: torch.Tensor) -> torch.Tensor:
    return helper(x)


class Service:
    def __init__(self) -> None:
        self.model = OTHER

    def answer(self, x: torch.Tensor) -> torch.Tensor:
        return helper(x)


def test_the_modules_of_a_target_are_those_that_its_code_can_name() -> None:
    def closes_over(x: torch.Tensor) -> list[torch.Tensor]:
        return [MODEL(part) for part in local(x)]

    local = nn.Identity()
    assert reachable_modules(MODEL) == {"": MODEL}
    assert reachable_modules(MODEL.forward) == {"": MODEL}
    assert reachable_modules(helper) == {"MODEL": MODEL}
    assert reachable_modules(through_a_helper) == {"MODEL": MODEL}
    assert reachable_modules(closes_over) == {"MODEL": MODEL, "local": local}
    assert reachable_modules(Service().answer) == {"model": OTHER, "MODEL": MODEL}
    assert reachable_modules(len) == {}
