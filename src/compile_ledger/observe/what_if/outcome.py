"""What would become of a call, once it is known which entries refuse it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from compile_ledger.facts.cache_line import Budget
from compile_ledger.facts.what_if import Next
from compile_ledger.observe.cache_line.state import State


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the call would do, why, and the limit where one refuses it."""

    next: Next
    why: str
    limit: str = ""


@dataclass(frozen=True, slots=True)
class Situation:
    """What decides, apart from the guards."""

    state: State
    budget: Budget
    entries: int
    stance: str = "default"
    disabled: bool = False
    fullgraph: bool = False


def outcome(hit: str, now: Situation) -> Outcome:
    """The outcome of a call that entry ``hit`` would take; empty: no entry would."""
    if now.disabled or now.stance == "force_eager":
        why = "compiling is switched off" if now.disabled else "the stance is force_eager"
        return Outcome("eager", f"{why} for every call")
    if now.state.state == "off":
        since = f" since compile {now.state.since}" if now.state.since else ""
        why = f"the code object is skipped{since}: {now.state.why}"
        return Outcome("switched_off", why)
    if hit:
        return Outcome("reuse", f"entry {hit} takes it")
    return _by_stance(now) or _compile(now)


def _by_stance(now: Situation) -> Outcome | None:
    """What holds for every call that no entry takes."""
    if now.stance == "eager_on_recompile":
        return Outcome("fall_back", "the stance is eager_on_recompile")
    if now.stance == "fail_on_recompile":
        return Outcome("raise", "the stance is fail_on_recompile")
    if now.state.state == "run-only":
        why = f"a limit was hit at compile {now.state.since}: what no entry takes runs eagerly"
        return Outcome("fall_back", why)
    return None


def _compile(now: Situation) -> Outcome:
    if now.budget.left == 0:
        limit = f"{now.budget.limit} ({now.budget.limit_value})"
        if now.fullgraph:
            return Outcome("raise", f"{limit} is reached and fullgraph is set", now.budget.limit)
        return Outcome("refused", f"{limit} is reached: this call and later ones", now.budget.limit)
    left = "" if now.budget.left is None else f"; {_left(now.budget)}"
    if now.entries:
        return Outcome("recompile", f"no entry takes it{left}")
    return Outcome("compile", f"there is no entry yet{left}")


def _left(budget: Budget) -> str:
    after = (budget.left or 1) - 1
    return f"{after} more compile{'' if after == 1 else 's'} before {budget.limit}"


def stance() -> str:
    """The present stance, ``default`` where this torch has none."""
    from torch._dynamo import eval_frame

    return str(getattr(getattr(eval_frame, "_stance", None), "stance", "default"))


def disabled() -> bool:
    """Whether a switch of the process turns the compiler off."""
    from torch._dynamo import config

    return bool(getattr(config, "disable", False))


def is_fullgraph(context: Any) -> bool:
    """Whether the region raises rather than falls back."""
    return bool(getattr(context, "fullgraph", False))
