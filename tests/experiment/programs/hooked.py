"""A hook that is added after the first calls, which compiled code never runs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

from compile_ledger import Workload

SEEN: list[torch.Tensor] = []


class Tower(torch.nn.Module):
    """Two layers; the first gets a hook late."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = torch.nn.Linear(4, 4)
        self.head = torch.nn.Linear(4, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out: torch.Tensor = self.head(self.stem(x))
        return out


@contextmanager
def around_call(index: int, target: Any) -> Iterator[None]:
    if index == 2:
        target.stem.register_forward_hook(lambda _, __, out: SEEN.append(out.detach().sum()))
    yield


def build() -> Workload:
    """A call of the module as often as it takes."""
    torch.manual_seed(0)
    calls = [(torch.randn(2, 4),) for _ in range(4)]
    return Workload(Tower().eval(), calls, {"backend": "eager"}, around_call=around_call)
