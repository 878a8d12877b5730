"""Stances that the program set itself: the calls that they refused, or ran eagerly.

``fail_on_recompile`` makes a call raise, ``eager_on_recompile`` runs it eagerly, both where no
entry takes it; under ``force_eager`` every call is eager.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from compile_ledger.facts.arm import Arm
from compile_ledger.facts.compile import Compile
from compile_ledger.facts.place import Place
from compile_ledger.judge.classify_guard import GuardFailure, classify_guard
from compile_ledger.judge.document import Evidence, Finding, FindingCost
from compile_ledger.judge.instruments import instrument
from compile_ledger.judge.view import View, look
from compile_ledger.judge.words import count, listed, spans

from .causes import by_name
from .values import short

FAIL, RUN_ONLY, EAGER = "fail_on_recompile", "eager_on_recompile", "force_eager"
_SHOWN = 6
_NO_ENTRY = "nothing had been compiled before, so there was no entry to take it"

Reasons = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Refusals:
    """The calls of one region that a stance refused, with each entry's reason for each."""

    stance: str
    region: int | None
    number: int
    calls: tuple[int, ...]
    """Their indices; fewer than ``number`` where calls were not kept apart."""
    reasons: tuple[Reasons, ...]


def refused_calls(arm: Arm) -> frozenset[tuple[int | None, int | None]]:
    """Calls (region, index) that raised because the program's own stance made them."""
    return frozenset((c.region, c.call) for c in arm.compiles if c.stance == FAIL)


def stance_failures(view: View) -> tuple[Finding, ...]:
    """Calls that no entry took, and that a stance refused or ran eagerly."""
    every = sorted((*raised(view), *_run_eagerly(view)), key=lambda found: -found.number)
    return tuple(stance_finding(view, found) for found in every)


def stance_notes(view: View) -> Iterator[Finding]:
    """Calls that ``force_eager`` ran, of regions that graphs serve otherwise."""
    for region in view.called:
        number, length = calls_under(view, region, EAGER), view.length(region)
        if 0 < number < length:
            said = (
                f"{number} of {count(length, 'call')} of {view.target(region)} ran eagerly "
                f"by stance {EAGER}{_set_at(view, EAGER, region)}"
            )
            yield Finding(
                id=f"forced-eager:{region}",
                slug="forced-eager",
                level="STABLE",
                severity="note",
                sentence=said,
                site=place_of(view, EAGER, region) or view.site(region),
                subject=EAGER,
                count=number,
                region=region,
            )


def raised(view: View) -> Iterator[Refusals]:
    """What ``fail_on_recompile`` refused, by region."""
    found: defaultdict[int | None, list[Compile]] = defaultdict(list)
    for event in view.compiles:
        if event.stance == FAIL:
            found[view.region_of(event)].append(event)
    for region, events in found.items():
        calls = tuple(dict.fromkeys(e.call for e in events if e.call is not None))
        reasons = tuple(event.reasons for event in events)
        yield Refusals(FAIL, region, len(calls) or len(events), calls, reasons)


def _run_eagerly(view: View) -> Iterator[Refusals]:
    """What ``eager_on_recompile`` ran eagerly, by region; of a recording from its totals."""
    for region, every in view.calls.items():
        own = [c for c in every if c.stance == RUN_ONLY and c.disposition == "fell_back"]
        if own:
            reasons = tuple(call.refused_by for call in own)
            yield Refusals(RUN_ONLY, region, len(own), tuple(c.index for c in own), reasons)
    counters = view.arm.counters
    if view.arm.calls or counters is None:
        return
    for use in counters.stances:
        if use.name == RUN_ONLY and use.silent:
            only = use.calls[0].region if len(use.calls) == 1 else None
            yield Refusals(RUN_ONLY, only, use.silent, (), use.refused)


def silent_under_stances(view: View) -> int:
    """Of a recording: silent lookups that ``eager_on_recompile`` accounts for."""
    counters = view.arm.counters
    uses = () if view.arm.calls or counters is None else counters.stances
    return sum(use.silent or 0 for use in uses if use.name == RUN_ONLY)


def calls_under(view: View, region: int, stance: str) -> int:
    """Calls of a region that began under a stance."""
    calls = view.calls.get(region, ())
    if calls:
        return sum(call.stance == stance for call in calls)
    uses = view.arm.counters.stances if view.arm.counters else ()
    every = (c for use in uses if use.name == stance for c in use.calls)
    return sum(c.calls for c in every if c.region == region)


def as_forced(view: View, found: Finding) -> Finding:
    """A finding that a region ran no graph, with the stance that kept all of its calls from it."""
    region = found.region
    if region is None:
        return found
    for name, slug, why in ((EAGER, "forced-eager", ""), (RUN_ONLY, "stance-eager", _NO_ENTRY)):
        if 0 < view.length(region) == calls_under(view, region, name):
            head = f"no graph ran in any of {count(found.count, 'call')} of {found.subject}"
            also = f": {why}" if why else ""
            said = f"{head}: they ran eagerly by stance {name}{_set_at(view, name, region)}{also}"
            site = place_of(view, name, region) or found.site
            return replace(found, slug=slug, sentence=said, site=site)
    return found


def place_of(view: View, stance: str, region: int | None) -> Place | None:
    """The line that set a stance under which the region was called; else the first that did."""
    uses = view.arm.counters.stances if view.arm.counters else ()
    own = [use for use in uses if use.name == stance]
    called = [use for use in own if any(c.region == region for c in use.calls)]
    return next((use.place for use in (*called, *own) if use.place), None)


def _set_at(view: View, stance: str, region: int | None) -> str:
    place = place_of(view, stance, region)
    return f" (set at {place})" if place else ""


def stance_finding(view: View, found: Refusals) -> Finding:
    """What a stance refused: the calls, the guard, what it expected and what it met."""
    region, first = found.region, _first(found.reasons)
    place = place_of(view, found.stance, region)
    fails = found.stance == FAIL
    said = f"{_head(view, found)}: {_why(found.reasons)}"
    return Finding(
        id=f"stance:{found.stance}:{region}",
        slug="stance-refused" if fails else "stance-eager",
        level="STABLE",
        severity="failure",
        sentence=f"{said}{_set_at(view, found.stance, region)}",
        site=place or view.site(region),
        subject=by_name(first) if first else found.stance,
        axis=first.axis if first else None,
        expected=first.expected if first else "",
        actual=short(first.actual) if first else "",
        count=found.number,
        cost=FindingCost(calls=found.number),
        evidence=_quoted(view, found),
        region=region,
        first_call=min(found.calls, default=None),
    )


def _head(view: View, found: Refusals) -> str:
    did = "refused" if found.stance == FAIL else "ran eagerly"
    if found.stance == FAIL and found.number == len(found.calls) == 1:
        return f"call {found.calls[0]} refused by stance {FAIL}"
    if found.region is None:
        return f"{count(found.number, 'lookup')} found no entry and {did} by stance {found.stance}"
    where = f" ({spans(found.calls)})" if found.calls else ""
    of = f"{found.number} of {count(view.length(found.region), 'call')}"
    return f"{of} of {view.target(found.region)}{where} {did} by stance {found.stance}"


def _why(reasons: Sequence[Reasons]) -> str:
    """``idx size[1] expected 32, actual 48, 50``: distinct guards with the values they met."""
    met: dict[str, dict[str, None]] = {}
    for failure in _failures(reasons):
        met.setdefault(_expected(failure), {}).setdefault(short(failure.actual))
    if not met:
        return _NO_ENTRY if any(not r for r in reasons) else "torch gives no reason"
    return "; ".join(
        f"{said}, actual {listed(known, _SHOWN)}" if (known := [v for v in values if v]) else said
        for said, values in list(met.items())[:3]
    )


def _expected(failure: GuardFailure) -> str:
    name = by_name(failure)
    if failure.kind in ("size", "stride") and failure.axis is not None:
        return f"{name} {failure.kind}[{failure.axis}] expected {failure.expected}"
    what = {"dtype": " dtype", "device": " device", "rank": " rank"}.get(failure.kind, "")
    if failure.expected:
        return f"{name}{what} expected {short(failure.expected)}"
    return f"{name}{what} changed" if name and name != "unnamed" else failure.text


def _failures(reasons: Iterable[Reasons]) -> Iterator[GuardFailure]:
    """Of each call the first refusal: that of the entry which is asked last, the newest."""
    return (classify_guard(every[0]) for every in reasons if every)


def _first(reasons: Iterable[Reasons]) -> GuardFailure | None:
    return next(_failures(reasons), None)


def _quoted(view: View, found: Refusals) -> tuple[Evidence, ...]:
    tool = instrument("stance", view.arm)
    texts = dict.fromkeys(text for every in found.reasons for text in every)
    place = place_of(view, found.stance, found.region)
    said = f"torch.compiler.set_stance({found.stance!r})" + (f" at {place}" if place else "")
    return tuple(Evidence(tool, text, arm=view.arm.name) for text in (said, *list(texts)[:16]))


def ends_the_program(arm: Arm) -> Finding | None:
    """A refused call whose exception the program did not handle: it does not run."""
    message = arm.raised.message if arm.raised and arm.status == "raised" else ""
    if FAIL not in message:
        return None
    view = look(arm)
    found = next((one for one in raised(view) if one.calls), None)
    if found is None:
        return None
    last = Refusals(FAIL, found.region, 1, found.calls[-1:], found.reasons[-1:])
    said = stance_finding(view, last)
    sentence = f"{said.sentence}; the program does not handle the exception"
    return replace(said, id=f"{said.id}:ends", level="RUNS", sentence=sentence)
