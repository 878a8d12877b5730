"""Which arm decides: the arms by name, and the best one for a question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from compile_ledger.facts.arm import Arm
from compile_ledger.facts.contract import Contract

Arms = Mapping[str, Arm]

EAGER = "eager"
AGAIN = "eager_again"
PLAIN = "plain"
"""The program with ``torch.compile`` as the identity: the true eager arm."""
CAPTURE = "capture"
CORRECT = "correct"
COLD = "cold"
WARM = "warm"
STEADY = "steady"
ABLATION = "ablation"
OPINIONS = "opinions"
RECORDED = "recorded"

COMPILED = (CAPTURE, CORRECT, COLD, WARM, STEADY)
"""Arms in which the workload is compiled, in the order in which they run."""

CAPTURE_ONLY = frozenset(
    {"eager", "eager_noexcept", "aot_eager", "aot_eager_decomp_partition", "aot_ts"}
)
"""Backends that run the captured graph as it is: the capture arm keeps them."""


def own_arms(arms: Arms, contract: Contract) -> tuple[Arm, ...]:
    """The arms that ran the workload's own backend."""
    names = [CORRECT, COLD, WARM, STEADY]
    if contract.own_backend in CAPTURE_ONLY:
        names.append(CAPTURE)
    return tuple(arms[name] for name in names if name in arms)


def usable(arms: Arms, names: Sequence[str]) -> Arm | None:
    """The first named arm that ran to its end and holds calls or compiles."""
    present = [arms[name] for name in names if name in arms and has_evidence(arms[name])]
    whole = [arm for arm in present if arm.ran]
    return next(iter(whole or present), None)


def has_evidence(arm: Arm) -> bool:
    """True when the arm saw anything of a region."""
    return bool(arm.calls or arm.compiles or (arm.counters and arm.counters.regions))


def nothing_captured(arms: Arms) -> bool:
    """True when no call of the capture arm ran a graph: what agrees there is eager itself."""
    arm = arms.get(CAPTURE)
    return arm is not None and bool(arm.calls) and all(call.graphs == 0 for call in arm.calls)


def deciding_stability(arms: Arms) -> Arm | None:
    """The best compiled arm that saw the whole stream (DESIGN section 3, level 4)."""
    names = [RECORDED, COLD, WARM]
    if CORRECT in arms and arms[CORRECT].status == "finished":
        names.append(CORRECT)
    return usable(arms, [*names, CAPTURE, CORRECT])


def deciding_capture(arms: Arms) -> Arm | None:
    """The arm that shows graphs and breaks best: the cheapest that saw the stream.

    The capture arm replaces the workload's backend: where compiling failed with that one
    only, an arm that ran it decides.
    """
    found = usable(arms, [RECORDED, CAPTURE, COLD, WARM, CORRECT])
    own = usable(arms, [COLD, WARM, CORRECT])
    if own is not None and found is arms.get(CAPTURE) and _failures(own) > _failures(found):
        return own
    return found


def _failures(arm: Arm | None) -> int:
    """Compiles that failed in an arm, raised or suppressed."""
    events = () if arm is None else arm.compiles
    return sum(e.suppressed or (e.outcome == "raised" and not e.stance) for e in events)


def whole_stream(arm: Arm) -> bool:
    """True when the arm was not ended before its stream was."""
    return arm.ran and not (arm.name == CORRECT and arm.status == "stopped")
