"""Which stage of compiling raises: the ladder of backends, each one stage more than the last."""

from __future__ import annotations

from compile_ledger.facts.arm import Arm
from compile_ledger.facts.contract import Contract
from compile_ledger.judge.choose import CAPTURE, CAPTURE_ONLY, EAGER, Arms

from .compared import differences

LADDER = "ladder:"
"""How the arms are named that stop at one stage of compiling."""
RUNGS = ("eager", "aot_eager", "aot_eager_decomp_partition")
"""Backends from capture alone to all that comes before code generation."""


def raises(eager: Arm, arm: Arm) -> bool:
    """Whether an arm raises where eager does not, or another type, handled or not."""
    return any(found.kind != "lost" for found in differences(eager, arm))


def rungs_to_run(capture: Arm, own: Arm) -> tuple[str, ...]:
    """The backends that still have to be run to tell which stage of ``own`` raises.

    The capture arm keeps a backend that generates no code: then ``eager`` was not run yet.
    """
    named = {r.compile_kwargs.get("backend", "").strip("'\"") for r in capture.regions}
    past = [RUNGS.index(name) for name in named if name in RUNGS[1:]]
    if own is capture:
        return RUNGS[: max(past)] if past else ()
    return RUNGS[1:]


def stage_words(arms: Arms, contract: Contract) -> str:
    """The stage that raises, and the backends that show it."""
    own = contract.own_backend
    found = {name: known for name in RUNGS if (known := _raises(arms, own, name)) is not None}
    if "eager" not in found:
        return "in a stage that was not told apart"
    if found["eager"]:
        return "in the Dynamo capture stage (backend='eager' raises too)"
    first = next((name for name, raising in found.items() if raising), "")
    if first:
        too = "" if first == own else " too"
        return f"in the AOTAutograd stage (backend={first!r} raises{too}, 'eager' does not)"
    last = list(found)[-1]
    return f"in the backend stage ({own}; backend={last!r} does not raise)"


def _raises(arms: Arms, own: str, backend: str) -> bool | None:
    """Whether the program raises with a backend; None: it was not run with it."""
    eager, capture = arms.get(EAGER), arms.get(CAPTURE)
    arm = arms.get(f"{LADDER}{backend}")
    kept = own if own in CAPTURE_ONLY else "eager"
    if arm is None and kept == backend:
        arm = capture
    return None if arm is None or eager is None else raises(eager, arm)
