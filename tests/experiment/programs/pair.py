"""``(fn, calls)`` with the module's own settings around it, and other named targets."""

from __future__ import annotations

import contextlib
import os
import random
from collections.abc import Iterator
from typing import Any

import torch

from compile_ledger import Workload

COMPILE_KWARGS = {"backend": "eager", "dynamic": True}
SEEN: list[str] = []
RANDOM = random.random()  # noqa: S311  drawn while the file is imported: seeded by the arm


def fn(x: torch.Tensor, by: float = 1.0) -> torch.Tensor:
    return x * by


@contextlib.contextmanager
def around_call(index: int, target: Any) -> Iterator[None]:
    SEEN.append(f"{index} {target.__name__}")
    with torch.no_grad():
        yield


def state() -> dict[str, Any]:
    """What else counts as output."""
    asked = ("OMP_NUM_THREADS", "PYTHONHASHSEED", "TORCH_LOGS", "TORCHDYNAMO_DISABLE", "MINE")
    return {
        "seen": list(SEEN),
        "random": RANDOM,
        "torch": torch.initial_seed(),
        "threads": torch.get_num_threads(),
        "env": {name: os.environ.get(name) for name in asked},
        "caches": [os.environ[name] for name in ("TORCHINDUCTOR_CACHE_DIR", "TMPDIR")],
    }


def calls() -> Iterator[Any]:
    """Each form that a call may have."""
    x = torch.ones(4)
    yield x
    yield (x, 2.0)
    yield ((x,), {"by": 3.0})
    yield (torch.ones(5),)


def build() -> Any:
    """As tests of a case are written."""
    return fn, calls


workload = Workload(fn, [torch.ones(4)] * 3, {"backend": "eager"})
"""A workload at the top of the file, its calls a list."""


class Holder:
    """A dotted name."""

    @staticmethod
    def build() -> Workload:
        return Workload(fn, (torch.ones(4) for _ in range(3)), {"backend": "eager"})


def eager_raises() -> Workload:
    """An ordinary bug."""
    return Workload(lambda x: x @ torch.ones(7), [torch.ones(3)], {"backend": "eager"})
