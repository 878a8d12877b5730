"""A copy is run only where nothing of the program's could change with it."""

from __future__ import annotations

import enum
import importlib
import logging
import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import pytest
import torch
from torch import nn

from compile_ledger.experiment.correctness.reach import shared_with_copy
from compile_ledger.experiment.correctness.twin import NoTwinError, Twin
from compile_ledger.experiment.correctness.watchers import run_twin

CONSTANT = 3
NAMES = ("a", 2.5, None)
TENSOR = torch.ones(2)
MODEL = nn.Linear(2, 2)
OPTIMIZER = torch.optim.SGD(MODEL.parameters(), lr=0.1)
HISTORY: list[int] = []
TABLE: dict[str, int] = {}
PAIR = (1, HISTORY)
LOGGER = logging.getLogger("quiet")


class Colour(enum.Enum):
    RED = 1


class Counter:
    def __init__(self) -> None:
        self.calls = 0


COUNTER = Counter()


def pure(x: torch.Tensor) -> Any:
    return math.pi * torch.sin(x) + CONSTANT + len(NAMES), Colour.RED, torch.float32


def logs(x: torch.Tensor) -> Any:
    LOGGER.debug("a call")
    return x


def uses_modules_and_tensors(x: torch.Tensor) -> Any:
    return MODEL(x) + TENSOR


def step(x: torch.Tensor) -> Any:
    OPTIMIZER.step()
    return x


def appends(x: torch.Tensor) -> Any:
    HISTORY.append(1)
    return x


def writes(x: torch.Tensor) -> Any:
    TABLE["calls"] = 1
    return x


def in_a_tuple(x: torch.Tensor) -> Any:
    PAIR[1].append(1)
    return x


def counts(x: torch.Tensor) -> Any:
    COUNTER.calls += 1
    return x


def through_a_helper(x: torch.Tensor) -> Any:
    return appends(x)


def recursive(x: torch.Tensor) -> Any:
    return recursive(x - 1) if x.sum() > 0 else x


def closes_over(value: Any) -> Callable[[torch.Tensor], Any]:
    def inner(x: torch.Tensor) -> Any:
        return x, value

    return inner


def nested(x: torch.Tensor) -> Any:
    return [HISTORY.index(int(n)) for n in x]


def keeps(x: torch.Tensor, kept: list[Any] = []) -> Any:  # noqa: B006
    kept.append(x)
    return x


def keeps_by_name(x: torch.Tensor, *, kept: dict[str, Any] = TABLE) -> Any:
    return x, kept


class Settings:
    size = 3
    names = ("a", "b")
    log: ClassVar[list[int]] = []
    calls = 0

    @staticmethod
    def append(x: torch.Tensor) -> Any:
        return appends(x)


def reads_settings(x: torch.Tensor) -> Any:
    return x * Settings.size, Settings.names


def logs_on_a_class(x: torch.Tensor) -> Any:
    Settings.log.append(1)
    return x


def counts_on_a_class(x: torch.Tensor) -> Any:
    Settings.calls += 1
    return x


def calls_a_static_method(x: torch.Tensor) -> Any:
    return Settings.append(x)


class Pure(nn.Module):
    def forward(self, x: torch.Tensor) -> Any:
        return pure(x)


class Impure(nn.Module):
    def forward(self, x: torch.Tensor) -> Any:
        return appends(x)


class ThroughAMethod(nn.Module):
    def forward(self, x: torch.Tensor) -> Any:
        return self.helper(x)

    def helper(self, x: torch.Tensor) -> Any:
        return appends(x)

    def never_called_by_forward(self) -> Any:
        return OPTIMIZER.step()


class UsesAnother(nn.Module):
    def forward(self, x: torch.Tensor) -> Any:
        return MODEL(x)


class UsesATensor(nn.Module):
    def forward(self, x: torch.Tensor) -> Any:
        return x + TENSOR


class Service:
    def answer(self, x: torch.Tensor) -> Any:
        return self.helper(x)

    def helper(self, x: torch.Tensor) -> Any:
        return appends(x)

    def uses_a_module(self, x: torch.Tensor) -> Any:
        return MODEL(x)


def uses_a_module_that_shares(x: torch.Tensor) -> Any:
    return SHARING(x)


SHARING = UsesAnother()


def hooked() -> nn.Module:
    module = Pure()
    module.register_forward_hook(lambda *_: HISTORY.append(1))
    return module


def uses_a_helper_with_a_module(x: torch.Tensor) -> Any:
    return uses_modules_and_tensors(x)


SAFE = [pure, logs, uses_modules_and_tensors, recursive, Pure(), nn.Sequential(Pure(), MODEL)]
SAFE += [reads_settings, Service().uses_a_module, uses_a_helper_with_a_module]
SAFE += [closes_over(3), closes_over(("a", TENSOR)), closes_over(MODEL), torch.sin]


@pytest.mark.parametrize("target", SAFE)
def test_constants_code_libraries_modules_and_tensors_are_no_danger(target: Any) -> None:
    assert shared_with_copy(target) == ""


@pytest.mark.parametrize(
    ("target", "said"),
    [
        (step, "OPTIMIZER (a SGD)"),
        (appends, "HISTORY (a list)"),
        (writes, "TABLE (a dict)"),
        (in_a_tuple, "PAIR (a list)"),
        (counts, "COUNTER (a Counter)"),
        (through_a_helper, "HISTORY (a list)"),
        (closes_over([1]), "value (a list)"),
        (closes_over(appends), "HISTORY (a list)"),
        (Impure(), "HISTORY (a list)"),
        (nn.Sequential(Pure(), Impure()), "HISTORY (a list)"),
        (hooked(), "HISTORY (a list)"),
        (nested, "HISTORY (a list)"),
        (keeps, "kept (a list)"),
        (keeps_by_name, "kept (a dict)"),
        (logs_on_a_class, "Settings.log (a list)"),
        (counts_on_a_class, "Settings.calls (a int)"),
        (calls_a_static_method, "HISTORY (a list)"),
        (ThroughAMethod(), "HISTORY (a list)"),
        (UsesAnother(), "MODEL (a Linear)"),
        (UsesATensor(), "TENSOR (a Tensor)"),
        (uses_a_module_that_shares, "MODEL (a Linear)"),
        (Service().answer, "HISTORY (a list)"),
    ],
)
def test_what_a_copy_would_share_and_could_change_is_named(target: Any, said: str) -> None:
    assert shared_with_copy(target) == said


def test_a_copy_that_would_share_something_is_never_run() -> None:
    HISTORY.clear()
    with pytest.raises(NoTwinError, match=r"would share HISTORY \(a list\), which the call may"):
        run_twin(Twin(double=False), appends, (TENSOR,), {})
    assert HISTORY == []


def test_a_target_that_is_gone_has_no_copy() -> None:
    with pytest.raises(NoTwinError, match="the target is gone"):
        run_twin(Twin(), None, (), {})


def imported(folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, text: str) -> Any:
    (folder / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(folder)
    monkeypatch.delitem(sys.modules, name, raising=False)
    return importlib.import_module(name)


OWN_MODULE = """
SIZE, STEPS, calls = 3, [], 0
def append(x): STEPS.append(x)
def double(x): return 2 * x
"""


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("own.double(x) * own.SIZE", ""),
        ("own.STEPS.append(x)", "own.STEPS (a list)"),
        ("own.append(x)", "STEPS (a list)"),
    ],
)
def test_attributes_of_the_users_own_modules_are_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str, said: str
) -> None:
    imported(tmp_path, monkeypatch, "users_own", OWN_MODULE)
    code = f"import users_own as own\ndef target(x): return {body}"
    module = imported(tmp_path, monkeypatch, "users_code", code)
    assert shared_with_copy(module.target) == said
