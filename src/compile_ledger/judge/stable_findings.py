"""Findings of level STABLE that name how the graphs stop serving."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from compile_ledger.facts.compile import Compile

from .causes import Cause, leading, values_seen
from .classify_guard import KINDS
from .document import Evidence, Finding, FindingCost
from .instruments import instrument
from .prices import compile_seconds
from .recurrence import Anew, Recurring
from .view import View
from .words import count, listed, spans


def via_frame(view: View, region: int | None, code_object: int) -> str:
    """Say so when the frame that Dynamo caches on is not the user's own."""
    code = view.code.get(code_object)
    known = view.regions.get(region) if region is not None else None
    if code is None or known is None or known.site is None:
        return ""
    if not code.library and code.file == known.site.file:
        return ""
    return f" (frame {code.name}, {code.place}, entered by torch.compile at {known.site})"


@dataclass(frozen=True, slots=True)
class Story:
    """Recompiles of one cause, and how they end."""

    cause: Cause
    events: tuple[Compile, ...]
    """Every compile on the code object."""
    ends: str
    """In words: a limit that was hit, or compiling that goes on."""
    unseen: int
    """Silent calls, whose values no reason names."""
    calls: int
    """Calls of the stream."""


def recompiles(view: View, story: Story) -> Finding:
    """The cause of recompiles: ``recompile-shape`` or ``recompile-guard``."""
    found, events, unseen = story.cause, story.events, story.unseen
    first, last = found.first, events[-1]
    region = view.region_of(last)
    slug = "recompile-shape" if found.key.kind == "size" else "recompile-guard"
    entries = sum(event.kept for event in events if event.code_object == last.code_object)
    seen = f"{values_seen(found, unseen)} in {count(story.calls, 'call')}, {_entries(entries)}"
    sentence = f"{_head(found)}: {seen}; {story.ends}{via_frame(view, region, last.code_object)}"
    return Finding(
        id=f"{slug}:{last.code_object}",
        slug=slug,
        level="STABLE",
        severity="failure",
        sentence=sentence,
        site=view.site(region, last.code_object),
        subject=found.key.subject,
        axis=found.key.axis,
        expected=first.expected,
        actual=first.actual,
        count=found.compiles,
        cost=FindingCost(seconds=compile_seconds(view, events), calls=unseen or None),
        evidence=(*_blamed(view, found), *_quoted(view, events)),
        region=region,
        code_object=last.code_object,
    )


def _head(found: Cause) -> str:
    key = found.key
    if key.kind == "size":
        axis = f" on axis {key.axis}" if key.axis is not None else ""
        return f"{key.subject} changes size{axis}"
    if key.kind == "other":
        return f"recompiles on {key.text}: {found.first.text}"
    changed = f", expected {found.first.expected}" if found.first.expected else ""
    brought = f", got {found.first.actual}" if found.first.actual else ""
    return f"recompiles on {KINDS[key.kind].title}: {key.subject or '?'}{changed}{brought}"


def _entries(number: int) -> str:
    return count(number, "entry", "entries")


def _blamed(view: View, found: Cause) -> tuple[Evidence, ...]:
    """The values and the line of source that the guard names."""
    lines = listed(sorted({str(f.user_line) for f in found.failures if f.user_line}), 3)
    text = f"{found.key.text}: {listed(found.values, 16)}" + (f" at {lines}" if lines else "")
    tool = instrument("recompile reasons", view.arm)
    return (Evidence(tool, text, count=found.compiles, arm=view.arm.name),)


def _quoted(view: View, events: Iterable[Compile]) -> tuple[Evidence, ...]:
    tool = instrument("recompile reasons", view.arm)
    texts = [event.reasons[0] for event in events if event.reasons]
    return tuple(Evidence(tool, text, arm=view.arm.name) for text in texts[:16])


def cache_limit(view: View, hit: Compile) -> Finding:
    """A limit was hit: which, on which code object, at which call."""
    region = view.region_of(hit)
    code = view.code.get(hit.code_object)
    value = f" ({hit.limit_value})" if hit.limit_value is not None else ""
    name = f"{hit.limit or 'a recompile limit'}{value}"
    at = f" at call {hit.call}" if hit.call is not None else ""
    frame = code.name if code else "a frame"
    kept = max(hit.entries_before, sum(c.kept for c in _same(view, hit)))
    return Finding(
        id=f"cache-limit:{hit.code_object}",
        slug="cache-limit",
        level="STABLE",
        severity="failure",
        sentence=f"{name} was hit on {frame}{at}, with {_entries(kept)} in its cache line",
        site=view.site(region, hit.code_object),
        subject=hit.limit,
        expected=f"at most {hit.limit_value}" if hit.limit_value is not None else "",
        evidence=(Evidence(instrument("limits", view.arm), name, arm=view.arm.name),),
        region=region,
        code_object=hit.code_object,
    )


def _same(view: View, event: Compile) -> list[Compile]:
    return [c for c in view.compiles if c.code_object == event.code_object]


def silent_eager(view: View, region: int | None, code: int | None, calls: list[int]) -> Finding:
    """Calls that no entry took and that ran eagerly without a word."""
    length = view.length(region) if region is not None else len(calls)
    where = f": calls {spans(calls)}" if calls else ""
    return Finding(
        id=f"silent-eager:{code if code is not None else region}",
        slug="silent-eager",
        level="STABLE",
        severity="failure",
        sentence=(
            f"{count(len(calls), 'call')} of {length} of {view.target(region)} "
            f"ran eagerly, unannounced{where}"
        ),
        site=view.site(region, code),
        count=len(calls),
        cost=FindingCost(calls=len(calls)),
        evidence=(Evidence(instrument("lookups", view.arm), spans(calls), arm=view.arm.name),),
        region=region,
        code_object=code,
    )


def silent_total(view: View, hit: Compile, number: int) -> Finding:
    """Silent lookups of a recording in which calls were counted only."""
    region = view.region_of(hit)
    said = f"{count(number, 'lookup')} found no entry and ran eagerly, unannounced"
    return Finding(
        id=f"silent-eager:{hit.code_object}",
        slug="silent-eager",
        level="STABLE",
        severity="failure",
        sentence=f"{said} (all regions together)",
        site=view.site(region, hit.code_object),
        count=number,
        cost=FindingCost(calls=number),
        evidence=(Evidence(instrument("lookups", view.arm), said, arm=view.arm.name),),
        region=region,
        code_object=hit.code_object,
    )


def switched_off(view: View, event: Compile, after: list[int]) -> Finding:
    """A code object that had served was switched off: by which call, and what followed."""
    region = view.region_of(event)
    code = view.code.get(event.code_object)
    name = code.name if code else view.target(region)
    by = f" by call {event.call}" if event.call is not None else ""
    why = _why_off(event)
    eager = (
        f"; {count(len(after), 'later call')} ran eagerly: calls {spans(after)}" if after else ""
    )
    return Finding(
        id=f"switched-off:{event.code_object}",
        slug="switched-off",
        level="STABLE",
        severity="failure",
        sentence=f"{name} was switched off for good{by}: {why}{eager}",
        site=view.site(region, event.code_object),
        subject=name,
        count=1,
        cost=FindingCost(calls=len(after)),
        evidence=(
            Evidence(instrument("compile records", view.arm), why, arm=view.arm.name),
            *_quoted(view, [event]),
        ),
        region=region,
        code_object=event.code_object,
    )


def _why_off(event: Compile) -> str:
    if event.raised:
        return f"its new trace raised {event.raised.type}"
    if event.breaks:
        at = f" at {event.breaks[0].place}" if event.breaks[0].place else ""
        return f"its new trace broke where it cannot resume: {event.breaks[0].reason}{at}"
    return event.why.split("\n")[0] or "its new trace held no tensor operation"


def unnamed_recompiles(view: View, found: Recurring, calls: int) -> Finding:
    """Recompiles in the tail for which the runtime gave no reason."""
    last = found.compiles[-1]
    region = view.region_of(last)
    number = count(len(found.compiles), "recompile")
    return Finding(
        id=f"recompile-guard:{last.code_object}",
        slug="recompile-guard",
        level="STABLE",
        severity="failure",
        sentence=f"{number} in {count(calls, 'call')}, still in the tail; no reason was given",
        site=view.site(region, last.code_object),
        count=len(found.compiles),
        cost=FindingCost(seconds=compile_seconds(view, found.compiles)),
        region=region,
        code_object=last.code_object,
    )


def fresh_code(view: View, found: Anew) -> Finding:
    """A code object made anew at each call: compiled anew, with no guard and no limit."""
    last = found.compiles[-1]
    region = view.region_of(last)
    number = len(found.compiles)
    return Finding(
        id=f"recompile-guard:{found.place}",
        slug="recompile-guard",
        level="STABLE",
        severity="failure",
        sentence=(
            f"{found.place.function or 'a function'} is made anew and compiled each time: "
            f"{count(number, 'compile')} of one source line in {count(found.calls, 'call')}, "
            f"no guard failed and no limit applies"
        ),
        site=view.site(region) or found.place,
        subject=found.place.function,
        count=number,
        cost=FindingCost(seconds=compile_seconds(view, found.compiles)),
        evidence=(
            Evidence(
                instrument("compiles", view.arm), f"{number} new code objects at {found.place}"
            ),
        ),
        region=region,
        code_object=last.code_object,
    )


def cause_of(view: View, hit: Compile) -> Cause | None:
    """The leading cause of all compiles on the code object of one of them."""
    return leading(_same(view, hit))
