"""A small workload that generates code, once for one size and once for any."""

from __future__ import annotations

import torch

from compile_ledger import Workload


def fn(x: torch.Tensor) -> torch.Tensor:
    return (x.sin() + 1).sum(-1)


def workload() -> Workload:
    sizes = (8, 8, 9, 10, 11, 12, 13, 8)
    return Workload(
        fn, [torch.linspace(0, 1, 4 * n).reshape(4, n) for n in sizes], horizon=1000, rtol=1e-3
    )
