"""Inputs that overlap in memory from the second call on, one of which is written to."""

from __future__ import annotations

import torch

from compile_ledger import Workload


def shifted(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    a.add_(1)
    return b * 2


def build() -> Workload:
    """Two halves that do not overlap, then two that do."""
    apart, base = torch.zeros(8), torch.zeros(8)
    calls = [(apart[:4], apart[4:]), (base[:4], base[2:6])]
    return Workload(shifted, calls, {"backend": "aot_eager"})
