"""How a compiled result compares with eager's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

GRADIENTS = "gradients"
"""The leaf that stands for all gradients of a call that agree."""

AgreementStatus = Literal["equal", "within", "differs", "not_compared"]


@dataclass(frozen=True, slots=True)
class Agreement:
    """One leaf of one call's outputs (or mutated inputs, or state) against eager's.

    Errors are ``rmse(x, reference) / rms(reference)`` against an fp64 run of the
    same call (DESIGN section 3).
    """

    region: int | None
    call: int | None
    """None for what is compared once, at the end of the run."""
    leaf: str
    """Where in the outputs: ``out[0].logits``, ``mutated args[1]``, ``state``."""
    status: AgreementStatus
    why: str = ""
    dtype: str = ""
    shape: tuple[int, ...] = ()
    max_abs: float | None = None
    stated: bool | None = None
    """Whether the user's rtol/atol would pass it."""
    error_compiled: float | None = None
    error_eager: float | None = None
    reference: Literal["fp64", "none"] = "none"
    note: str = ""
    """What is reported but does not fail: strides, aliasing, masks adjudicated."""
    leaves: int = 1
    """How many tensors this line stands for; the errors are those of the worst."""
