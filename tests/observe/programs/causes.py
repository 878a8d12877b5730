"""Breaks of which the runtime tells the consequence: what it met has to be kept."""

from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


def in_try(x: torch.Tensor) -> torch.Tensor:
    y = x * 2
    try:
        y = y + y[0].item()
    except ValueError:
        y = y - 1
    return y


def rest(x: torch.Tensor, log: Callable[[float], None]) -> torch.Tensor:
    y = x.sin()
    y = y + 1
    y = y * 2
    try:
        log(y.sum().item())
    finally:
        y = y.cos()
    return y


def in_loop(x: torch.Tensor) -> torch.Tensor:
    for _ in range(2):
        x = x + 1 if x.shape[0] == 4 else x
    return x


def block(x: torch.Tensor) -> torch.Tensor:
    return x * 2 if x.sum() > 0 else x


def checkpointed(x: torch.Tensor) -> torch.Tensor:
    return checkpoint(block, x.sin(), use_reentrant=False).cos()


class Tagger(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(4, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.lstm(x)[0]


def call(fn: Callable[..., Any], *args: Any) -> None:
    torch.compile(fn, backend="eager")(*args)


call(in_try, torch.ones(4))
call(rest, torch.ones(4), print)
call(checkpointed, torch.ones(4, requires_grad=True))
call(Tagger(), torch.ones(2, 4))
x = torch.ones(4)
torch._dynamo.decorators.mark_unbacked(x, 0)
call(in_loop, x)
