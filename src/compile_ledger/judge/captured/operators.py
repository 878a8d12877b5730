"""Operators of steady calls: how many ran in graphs, how many eagerly, and where."""

from __future__ import annotations

from dataclasses import dataclass, replace

from compile_ledger.facts.calls import SERVED
from compile_ledger.facts.outside import EagerPlace, Operators
from compile_ledger.facts.place import within_package
from compile_ledger.judge.choose import RECORDED
from compile_ledger.judge.document import Evidence, Finding
from compile_ledger.judge.instruments import instrument
from compile_ledger.judge.view import View
from compile_ledger.judge.words import count

from .breaks import breaks_in
from .graphs import GraphsPerCall

NEGLIGIBLE = 0.05
"""Up to this share of the operators' time, what runs outside graphs is a note."""
LEAST = 2
"""Sampled calls that a failure takes: one timing decides nothing."""
SLUG = "eager-operators"


@dataclass(frozen=True, slots=True)
class OperatorReading:
    """What the sampled steady calls of one region ran, the last one's counts."""

    region: int
    inside: int
    outside: int
    low: float
    """The smallest share of the operators' time outside graphs, of the samples alike."""
    high: float
    samples: int
    places: tuple[EagerPlace, ...]

    @property
    def total(self) -> int:
        """All operators of the call."""
        return self.inside + self.outside

    @property
    def share(self) -> str:
        """``94%`` or ``90% to 94%``."""
        low, high = f"{self.low:.0%}", f"{self.high:.0%}"
        return low if low == high else f"{low} to {high}"

    @property
    def negligible(self) -> bool:
        """True when every sample says so."""
        return not self.outside or self.high < NEGLIGIBLE


def operators_of(view: View, region: int) -> OperatorReading | str:
    """The reading of one region, or why there is none."""
    sampled = [one for one in view.arm.operators if one.region == region]
    usable = [one for one in sampled if not one.why]
    if not usable:
        return sampled[-1].why if sampled else _unseen(view)
    usable = [one for one in usable if not _lost_later(view, region, one.call)]
    if not usable:
        return "the sampled calls came after the function was switched off: STABLE shows it"
    last = usable[-1]
    places = tuple(_at_break(view, region, one) for one in last.places)
    alike = [one for one in usable if (one.inside, one.outside) == (last.inside, last.outside)]
    shares = [_share(one) for one in alike]
    return OperatorReading(
        region, last.inside, last.outside, min(shares), max(shares), len(alike), places
    )


def _lost_later(view: View, region: int, index: int) -> bool:
    """True for a call that is switched off though graphs had served an earlier one.

    What was captured once and is no longer used is a matter of STABLE.
    """
    calls = view.calls.get(region, ())
    off = any(call.index == index and call.disposition == "switched_off" for call in calls)
    return off and any(call.disposition in SERVED and call.graphs for call in calls[:index])


def _at_break(view: View, region: int, found: EagerPlace) -> EagerPlace:
    """The break in the function, where its operators (``x + y``) showed only its first line."""
    place = found.place
    if all((c.file, c.line) != (place.file, place.line) for c in view.code.values()):
        return found
    name = place.function.rsplit(".", 1)[-1]
    broken = (b.place for b in breaks_in(view, region) if b.place)
    at = next((b for b in broken if b.file == place.file and b.function == name), None)
    return found if at is None else replace(found, place=replace(place, line=at.line))


def _share(one: Operators) -> float:
    every = one.inside_ns + one.outside_ns
    return one.outside_ns / every if every else 0.0


def _unseen(view: View) -> str:
    if view.arm.name == RECORDED:
        return "a recording counts no operators: compile-ledger audit does"
    lost = next((one for one in view.arm.lost if one.where == "OperatorSampler"), None)
    return lost.why if lost else f"no steady call was sampled in the {view.arm.name} arm"


def eager_operators(view: View, graphs: GraphsPerCall) -> Finding | None:
    """Operators of a region that run eagerly in its steady calls; a note where they may."""
    found = operators_of(view, graphs.region)
    if isinstance(found, str) or not found.outside or not graphs.high:
        return None
    fails = found.low >= NEGLIGIBLE and found.samples >= LEAST
    place = found.places[0] if found.places else None
    target = view.target(graphs.region)
    noun = "graph" if graphs.text == "1" else "graphs"
    once = "; one call was sampled, which decides nothing" if found.samples < LEAST else ""
    return Finding(
        id=f"{SLUG}:{graphs.region}",
        slug=SLUG,
        level="CAPTURED",
        severity="failure" if fails else "note",
        sentence=(
            f"{graphs.text} {noun} per steady call of {target} "
            f"{'holds' if noun == 'graph' else 'hold'} {found.inside} of "
            f"{count(found.total, 'operator')}; {eager_words(found)}{once}"
        ),
        site=(place.program or place.place) if place else view.site(graphs.region),
        library=place.place if place and place.program else None,
        subject=target,
        expected="every operator in a graph",
        actual=f"{found.outside} of {found.total} eager",
        count=found.outside,
        evidence=(
            Evidence(
                instrument("operators (torch.profiler)", view.arm, "audit"),
                f"{count(found.samples, 'call')} sampled alike; {_every(found)}",
                found.samples,
                view.arm.name,
            ),
        ),
        region=graphs.region,
    )


def eager_words(found: OperatorReading) -> str:
    """``24 ran eagerly (94% of the operators' time), in Features.forward (disabled), f.py:13``."""
    where = f", in {_place(found.places[0])}" if found.places else ""
    more = f" and {count(len(found.places) - 1, 'other place')}" if len(found.places) > 1 else ""
    return f"{found.outside} ran eagerly ({found.share} of the operators' time){where}{more}"


def _place(place: EagerPlace) -> str:
    how = " (disabled)" if place.disabled else ""
    led = f", called at {place.program}" if place.program else ""
    return f"{place.place.function}{how}, {within_package(place.place)}{led}"


def _every(found: OperatorReading) -> str:
    places = (f"{_place(one)}: {count(one.operators, 'operator')}" for one in found.places)
    return "; ".join(places) or "no line of the program called them"


def operator_cell(view: View, regions: tuple[int, ...]) -> tuple[str | None, str]:
    """The ledger's cell for the called regions: the value, or None and why."""
    found = [(region, operators_of(view, region)) for region in regions]
    known = [(region, one) for region, one in found if isinstance(one, OperatorReading)]
    if not known:
        return None, next((one for _, one in found if isinstance(one, str)), "nothing was called")
    several = len(found) > 1
    said = dict.fromkeys(_cell(view, region, one, several=several) for region, one in known)
    rest = len(found) - len(known)
    also = [f"not measured in {count(rest, 'region')}"] if rest else []
    return "; ".join([*list(said)[:_MOST], *also]), ""


_MOST = 4


def _cell(view: View, region: int, found: OperatorReading, *, several: bool) -> str:
    whose = f"{view.target(region)}: " if several else ""
    eager = f"; {eager_words(found)}" if found.outside else ""
    return f"{whose}{found.inside} of {found.total} in graphs{eager}"
