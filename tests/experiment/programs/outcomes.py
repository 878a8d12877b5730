"""Regions whose results are hard to compare, and a list that compiled code does not fill."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

LOG: list[int] = []
STEPS: list[int] = []


class Counts(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("seen", torch.zeros(1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.seen.add_(1)
        return x + 1


def writes_into(x: torch.Tensor, out: torch.Tensor) -> int:
    out.add_(x)
    return int(x.shape[0])


@torch.compiler.disable
def noise() -> float:
    return os.urandom(1)[0] / 7 + random.SystemRandom().random()


def unrepeatable(x: torch.Tensor) -> torch.Tensor:
    return x + noise()


def draws(x: torch.Tensor) -> torch.Tensor:
    return x + torch.rand(3) + random.random()  # noqa: S311


def differs(x: torch.Tensor) -> tuple[torch.Tensor, str, torch.Tensor]:
    by, word = (1.01, "b") if torch.compiler.is_compiling() else (1.0, "a")
    return x * by, word, x.int()


def logs(x: torch.Tensor) -> torch.Tensor:
    if not torch.compiler.is_compiling():
        LOG.append(1)
    return x + 1


def shares_a_list(x: torch.Tensor) -> torch.Tensor:
    STEPS.append(1)
    return x + 1


def three(target: Callable[..., Any], *more: Any, start: float = 1.0) -> None:
    compiled = torch.compile(target, backend="eager")
    for _ in range(3):
        compiled(torch.full((3,), start), *more)


def trains() -> float:
    """A step of an optimizer between the calls."""
    model = nn.Linear(4, 1)
    compiled = torch.compile(model, backend="eager")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loss = torch.zeros(1)
    for _ in range(3):
        loss = compiled(torch.rand(8, 4)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()


def drifts() -> None:
    """Parameters that no other run has: only a copy in this process can compare."""
    model = nn.Conv1d(1, 1, 1)
    with torch.no_grad():
        model.bias.fill_(noise())
    compiled = torch.compile(model, backend="eager")
    for _ in range(3):
        compiled(torch.ones(1, 1, 2))


def main() -> dict[str, Any]:
    three(writes_into, torch.zeros(3))
    three(Counts())
    three(unrepeatable)
    three(draws)
    three(differs)
    three(logs)
    three(shares_a_list, start=noise())
    assert len(STEPS) == 3, "no copy may run the program's own effects again"
    drifts()
    return {"log": len(LOG), "loss": trains()}
