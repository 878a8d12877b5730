"""Sizes are loop bounds, so that each new one is another program."""

from __future__ import annotations

import torch


def recurrence(x: torch.Tensor) -> torch.Tensor:
    state = x[0]
    for number in range(1, x.shape[0]):
        state = state * 0.9 + x[number]
    return state


def main() -> None:
    compiled = torch.compile(recurrence, backend="eager", dynamic=False)
    for size in range(2, 14):
        compiled(torch.ones(size, 4))
