"""What the user states: tolerances, horizon, how far to run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

DEFAULT_RTOL = 1e-4
DEFAULT_ATOL = 1e-4

Depth = Literal["quick", "default", "full"]


@dataclass(frozen=True, slots=True)
class Stated:
    """What a workload states of itself; None: it does not say. Options of the audit win."""

    rtol: float | None = None
    atol: float | None = None
    horizon: int | None = None


@dataclass(frozen=True, slots=True)
class Contract:
    """The audit's terms. ``rtol``/``atol`` default to the chapter's contract, 1e-4."""

    rtol: float = DEFAULT_RTOL
    atol: float = DEFAULT_ATOL
    horizon: int | None = None
    """Calls that the workload will serve before it restarts; None: not stated."""
    depth: Depth = "default"
    compare: int = 8
    """Calls whose outputs are compared."""
    target: str = ""
    """What the user named, as they wrote it."""
    command: str = ""
    """The words after ``audit`` that name the same again, for a shell; empty: not known."""
    own_backend: str = "inductor"
    """The backend that the workload's own ``torch.compile`` asks for."""
    kind: Literal["workload", "program", "recording"] = "workload"
