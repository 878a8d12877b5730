"""Compiled code raises where eager does not, for a reason that one change removes."""

from __future__ import annotations

import torch

from compile_ledger import Workload


def chunk_loss(logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.cross_entropy(logits, targets)  # fixed


def marked() -> Workload:
    """The targets are marked dynamic, the logits of their length are not."""
    calls = []
    for tokens in (12, 12, 20):
        targets = torch.randint(0, 5, (tokens,))
        torch._dynamo.mark_dynamic(targets, 0)
        calls.append((torch.randn(tokens, 5), targets))
    return Workload(chunk_loss, calls, {"backend": "eager"})


def shown(x: torch.Tensor) -> torch.Tensor:
    y = x * 2
    print("seen")  # printed
    return y + 1


def whole() -> Workload:
    """A break under ``fullgraph=True``."""
    calls = [(torch.randn(3),) for _ in range(3)]
    return Workload(shown, calls, {"backend": "eager", "fullgraph": True})
