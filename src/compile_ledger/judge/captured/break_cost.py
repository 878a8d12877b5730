"""What breaks cost, where an arm timed calls without them: per call, with an interval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from compile_ledger.facts.contract import Contract
from compile_ledger.facts.graph_break import GraphBreak
from compile_ledger.facts.timing import Ablation
from compile_ledger.judge.bootstrap import difference, paired, width
from compile_ledger.judge.choose import ABLATION, CAPTURE_ONLY, RECORDED, Arms
from compile_ledger.judge.document import BreakCost, Evidence, Interval

from .break_kinds import LOGGING, could_capture, no_setting
from .breaks import breaks_of, key_of

NO_ARM = "no arm without the break was run"


@dataclass(frozen=True, slots=True)
class Price:
    """What a region's breaks cost, as its findings say it."""

    words: str
    measured: bool = False
    nothing: bool = False
    """Whether they may stay: see :func:`costs_nothing`."""

    @property
    def tail(self) -> str:
        """The end of a sentence that says nothing where nothing was measured."""
        return f"; {self.words}" if self.measured else ""

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """The arm that measured it."""
        tool = "paired CPU time, interleaved (breaks removed)"
        return (Evidence(tool, self.words, arm=ABLATION),) if self.measured else ()


def price_of(
    arms: Arms, contract: Contract, region: int | None, breaks: Sequence[GraphBreak]
) -> Price:
    """The price of one region's breaks."""
    cost = None if region is None else region_cost(arms, region)
    if region is None or cost is None:
        why = unpriced(arms, contract, next(iter(breaks), None))
        return Price(f"its cost was not measured: {why}")
    if cost.cpu_ns is None:
        return Price(f"its cost was {cost.why}")
    fact = ablations(arms)[region]
    left = {key_of(one) for one in _left(arms, fact)}
    gone = sum(key_of(one) not in left for one in breaks)
    rest = fact.graphs_without or 0.0
    partly = f" (what {fact.change} removes: {rest:g} graphs are left)" if rest > 1 else ""
    words = cost_words(cost, gone) + partly
    return Price(words, measured=True, nothing=costs_nothing(arms, region))


def ablations(arms: Arms) -> dict[int, Ablation]:
    """Region to what was timed of it with and without its breaks."""
    found = arms[ABLATION].ablations if ABLATION in arms else ()
    return {fact.region: fact for fact in found}


def region_cost(arms: Arms, region: int) -> BreakCost | None:
    """What the removed breaks of one region cost together; None: nothing was timed."""
    fact = ablations(arms).get(region)
    if fact is None:
        return None
    cost = paired(fact.broken, fact.without, difference)
    noise = paired(fact.broken_again, fact.broken, difference)
    if fact.why or cost.value is None:
        return BreakCost(why=f"not measured: {fact.why or cost.why}", change=fact.change)
    return BreakCost(
        cpu_ns=cost.value,
        low_ns=cost.low,
        high_ns=cost.high,
        why="",
        change=fact.change,
        noise=noise,
        unresolved=_unresolved(cost, noise),
        includes="the logging call itself" if LOGGING in fact.change else "",
    )


def _unresolved(cost: Interval, noise: Interval) -> str:
    """Why the cost is inside the noise; empty when it is resolved."""
    if cost.value is None or cost.low is None or cost.high is None:
        return cost.why
    if cost.low <= 0 <= cost.high:
        return "its interval includes zero"
    if width(noise) > abs(cost.value):
        return "the A/A interval is wider than it"
    return ""


def break_cost(
    arms: Arms, contract: Contract | None, found: GraphBreak, regions: frozenset[int | None]
) -> BreakCost:
    """The cost of one break: that of all that one change removed, or why there is none."""
    fact = next((f for r, f in ablations(arms).items() if r in regions), None)
    cost = None if fact is None else region_cost(arms, fact.region)
    if fact is None or cost is None:
        return BreakCost(why=f"not measured: {unpriced(arms, contract, found)}")
    left = {key_of(one) for one in _left(arms, fact)}
    if key_of(found) in left:
        why = f"not measured: it is there with {fact.change}, too"
        return BreakCost(why=why)
    return cost


def _left(arms: Arms, fact: Ablation) -> list[GraphBreak]:
    after = arms.get(f"experiment:{fact.experiment}")
    return [] if after is None else breaks_of(after)


def unpriced(arms: Arms, contract: Contract | None, found: GraphBreak | None) -> str:
    """Why no cost was measured."""
    if RECORDED in arms:
        return "a recording has no arm without the break"
    if found is not None and not could_capture(found):
        return f"{no_setting(found)}, so there is no call without it to compare with"
    if contract is not None and contract.own_backend in CAPTURE_ONLY:
        return f"backend {contract.own_backend!r} runs captured graphs as they are"
    if contract is not None and contract.depth == "quick":
        return "the arm that times it is not run with --quick"
    return NO_ARM


def costs_nothing(arms: Arms, region: int) -> bool:
    """Whether a region's breaks may stay: without them it is one graph, and nothing is saved.

    Nothing that could be told from noise, or less than nothing.
    """
    fact, cost = ablations(arms).get(region), region_cost(arms, region)
    if fact is None or cost is None or cost.cpu_ns is None or fact.graphs_without is None:
        return False
    return fact.graphs_without <= 1 and (bool(cost.unresolved) or cost.cpu_ns < 0)


def cost_words(cost: BreakCost, breaks: int = 1) -> str:
    """The measured cost of so many breaks in words, for a sentence."""
    if cost.cpu_ns is None or cost.low_ns is None or cost.high_ns is None:
        return cost.why
    band = f"{_micro(cost.cpu_ns)} [{_micro(cost.low_ns)}, {_micro(cost.high_ns)}]"
    one = breaks <= 1
    also = f", with {cost.includes}" if cost.includes else ""
    if cost.unresolved:
        whose = "its cost" if one else f"the cost of the {breaks} breaks together"
        return f"{whose} is not resolved: {band} CPU per call{also}"
    if cost.cpu_ns < 0:
        without = "without it" if one else f"without the {breaks} breaks"
        return f"{without} a call takes {_micro(-cost.cpu_ns)} more: {band} CPU{also}"
    return f"{'it costs' if one else f'the {breaks} breaks cost'} {band} CPU per call{also}"


def _micro(nanoseconds: float) -> str:
    return f"{nanoseconds / 1e3:,.1f} us"
