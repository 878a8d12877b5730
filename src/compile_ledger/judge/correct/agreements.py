"""Which arms compared what: agreements by arm, and what eager itself does not repeat."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from compile_ledger.facts.agreement import Agreement
from compile_ledger.facts.arm import Arm
from compile_ledger.facts.contract import Contract
from compile_ledger.judge.choose import AGAIN, CAPTURE, Arms, own_arms
from compile_ledger.judge.document import Correctness

_WORST = 5
GRADIENT = "gradient"
"""Leaves that begin so are gradients: one by name, or all of a call that agree."""
EXCEPTION = "exception"
"""The leaf that stands for a call that raised on one side only."""


_At = tuple[int | None, int | None]
"""A region and a call of it."""


@dataclass(frozen=True, slots=True)
class Compared:
    """What one compiled arm compared with eager."""

    name: str
    own: bool
    """True when the arm ran the workload's own backend."""
    every: tuple[Agreement, ...]
    raised: int = 0
    """Calls that one side left by an exception that the other did not raise."""
    overlapping: Mapping[_At, tuple[str, ...]] = field(default_factory=dict)
    """Region and call to inputs that occupy the same memory as another one."""

    @property
    def calls(self) -> int:
        """Calls that were compared; what the whole run left is none."""
        return len({(a.region, a.call) for a in self.decided if a.call is not None})

    @property
    def decided(self) -> tuple[Agreement, ...]:
        """Leaves that were compared."""
        return tuple(a for a in self.every if a.status != "not_compared")

    @property
    def outputs(self) -> tuple[Agreement, ...]:
        """Leaves that were compared and are no gradients."""
        return tuple(a for a in self.decided if not a.leaf.startswith(GRADIENT))

    @property
    def gradients(self) -> tuple[Agreement, ...]:
        """Gradients that were compared; a line can stand for many."""
        return tuple(a for a in self.decided if a.leaf.startswith(GRADIENT))

    @property
    def unseen_gradients(self) -> tuple[Agreement, ...]:
        """Calls whose gradients the program computed, and that could not be compared."""
        every = (a for a in self.every if a.leaf.startswith(GRADIENT))
        return tuple(a for a in every if a.status == "not_compared")

    @property
    def differing(self) -> tuple[Agreement, ...]:
        """Leaves that differ."""
        return tuple(a for a in self.every if a.status == "differs")


def compared_arms(arms: Arms, contract: Contract) -> tuple[Compared, ...]:
    """The arms with agreements; those of the workload's own backend first."""
    own = [arm for arm in own_arms(arms, contract) if arm.agreements]
    sides = [_compared(arm, own=True) for arm in own]
    capture = arms.get(CAPTURE)
    if capture and capture.agreements and CAPTURE not in {side.name for side in sides}:
        sides.append(_compared(capture, own=False))
    return tuple(sides)


def _compared(arm: Arm, *, own: bool) -> Compared:
    """What calls gave; an exception that differs is level RUNS's, and counted only."""
    gave = tuple(a for a in arm.agreements if a.leaf != EXCEPTION)
    overlapping: dict[_At, tuple[str, ...]] = {
        (c.region, c.index): c.overlapping for c in arm.calls if c.overlapping
    }
    return Compared(arm.name, own, gave, len(arm.agreements) - len(gave), overlapping)


def unstable_leaves(arms: Arms) -> frozenset[tuple[int | None, str]]:
    """The leaves (region, leaf) on which eager differs from eager."""
    again = arms.get(AGAIN)
    every = again.agreements if again else ()
    return frozenset((a.region, a.leaf) for a in every if a.status in ("differs", "within"))


def deterministic(arms: Arms) -> bool | None:
    """Whether eager repeats itself; None when that was not measured."""
    again = arms.get(AGAIN)
    if again is None or not any(a.status != "not_compared" for a in again.agreements):
        return None
    return not unstable_leaves(arms)


def correctness(arms: Arms, contract: Contract) -> Correctness:
    """The numbers of the ledger's correctness line, from the arm that decides."""
    sides = compared_arms(arms, contract)
    side = next((s for s in sides if s.decided), None)
    repeats = deterministic(arms)
    if side is None:
        why = "no output was compared"
        return Correctness(rtol=contract.rtol, atol=contract.atol, deterministic=repeats, why=why)
    worst = sorted(side.decided, key=_badness, reverse=True)
    outputs, gradients = side.outputs, side.gradients
    compiled = [a.error_compiled for a in outputs if a.error_compiled is not None]
    eager = [a.error_eager for a in outputs if a.error_eager is not None]
    stated = [a.stated for a in side.decided if a.stated is not None]
    skipped = sorted({f"{a.leaf}: {a.why}" for a in side.every if a.status == "not_compared"})
    return Correctness(
        compared=len(outputs),
        gradients=sum(a.leaves for a in gradients),
        worst_error_gradient=max(
            (a.error_compiled for a in gradients if a.error_compiled is not None), default=None
        ),
        calls=side.calls,
        max_abs=max((a.max_abs for a in outputs if a.max_abs is not None), default=None),
        rtol=contract.rtol,
        atol=contract.atol,
        stated_pass=all(stated) if stated else None,
        worst_error_compiled=max(compiled, default=None),
        worst_error_eager=max(eager, default=None),
        worst_ratio=max((r for a in outputs if (r := ratio(a)) is not None), default=None),
        deterministic=repeats,
        arm=side.name,
        not_compared=tuple(skipped),
        worst=tuple(worst[:_WORST]),
    )


def ratio(leaf: Agreement) -> float | None:
    """Compiled error over eager's own error; None where there is no fp64 reference."""
    if leaf.error_compiled is None or not leaf.error_eager:
        return None
    return leaf.error_compiled / leaf.error_eager


def _badness(leaf: Agreement) -> tuple[bool, float, float]:
    return (leaf.status == "differs", ratio(leaf) or 0.0, leaf.max_abs or 0.0)
