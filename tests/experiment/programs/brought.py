"""Streams whose values a report has to name: one region a kind of guard."""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

Stream = tuple[Callable[..., Any], list[tuple[Any, ...]]]
X = torch.ones(3)


class Mode(enum.Enum):
    """What a call may ask for."""

    FAST = 1
    EXACT = 2
    SAFE = 3


@dataclass
class Request:
    """A name that differs from call to call."""

    name: str


def summed(x: torch.Tensor, extras: dict[str, torch.Tensor]) -> torch.Tensor:
    for value in extras.values():
        x = x + value
    return x


def joined(*xs: torch.Tensor) -> torch.Tensor:
    return torch.cat(xs).sum()


def answered(x: torch.Tensor, request: Request) -> torch.Tensor:
    return x * 2 if request.name.startswith("req") else x  # asked


def moded(x: torch.Tensor, mode: Mode) -> torch.Tensor:
    return x.relu() if mode is Mode.FAST else x.sigmoid()


def scaled(radius: float) -> Callable[[torch.Tensor], torch.Tensor]:
    def within(x: torch.Tensor) -> torch.Tensor:
        return x.abs() <= radius

    return within


def applied(x: torch.Tensor, fn: Callable[[torch.Tensor], torch.Tensor]) -> torch.Tensor:
    return fn(x) + 1


def weighted(ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    return (ids * mask).sum(1)


def streams() -> list[Stream]:
    """Functions and the arguments of their calls."""
    modes = list(Mode)
    return [
        (summed, [(X, {f"req{i}": X}) for i in range(12)]),
        (joined, [(X,) * (i + 1) for i in range(12)]),
        (answered, [(X, Request(f"req-{i}")) for i in range(12)]),
        (moded, [(X, modes[i % 3]) for i in range(9)]),
        (applied, [(X, scaled(1.0 + i)) for i in range(6)]),
        (weighted, [(torch.ones(2, 3 + i), torch.ones(2, 3 + i)) for i in range(6)]),
    ]


def main() -> None:
    """Compile and call each."""
    for function, calls in streams():
        compiled = torch.compile(function, backend="eager")
        for arguments in calls:
            compiled(*arguments)
