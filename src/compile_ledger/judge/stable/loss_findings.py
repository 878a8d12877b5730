"""Findings of level STABLE that say what was lost: limits, silent calls, code switched off."""

from __future__ import annotations

from dataclasses import replace

from compile_ledger.facts.compile import Compile
from compile_ledger.judge.captured.break_words import reason_of
from compile_ledger.judge.captured.skips import EMPTY_WORDS, was_empty
from compile_ledger.judge.document import Evidence, Finding, FindingCost
from compile_ledger.judge.instruments import instrument
from compile_ledger.judge.view import View
from compile_ledger.judge.words import count, listed, spans

from .at_call import among_all, at_call, call_number
from .causes import by_name, failures_of
from .guarded import guarded_at
from .reasons import entry_count, on_same_code, quoted
from .silent import counted_on, subtracted_on
from .values import short


def cache_limit(view: View, hit: Compile) -> Finding:
    """A limit was hit: which, on which code object, at which call."""
    region = view.region_of(hit)
    value = f" ({hit.limit_value})" if hit.limit_value is not None else ""
    name = f"{hit.limit or 'a recompile limit'}{value}"
    at = at_call(view, hit)
    frame = view.frame(hit.code_object)
    same = on_same_code(view, hit)
    kept = hit.entries_before or sum(c.kept for c in same)
    again = [at_call(view, c) for c in same if c.outcome == "refused" and c is not hit]
    also = f", and again{listed(again, 3)}" if again else ""
    return Finding(
        id=f"cache-limit:{hit.code_object}",
        slug="cache-limit",
        level="STABLE",
        severity="failure",
        sentence=f"{name} was hit on {frame}{at}, with {entry_count(kept)} in its cache line{also}",
        site=view.site(region, hit.code_object),
        subject=hit.limit,
        expected=f"at most {hit.limit_value}" if hit.limit_value is not None else "",
        evidence=(Evidence(instrument("limits", view.arm), name, arm=view.arm.name),),
        region=region,
        code_object=hit.code_object,
        first_call=call_number(view, hit),
    )


def silent_eager(view: View, region: int | None, code: int | None, calls: list[int]) -> Finding:
    """Calls that no entry took and that ran eagerly without a word."""
    length = view.length(region) if region is not None else len(calls)
    noun = "call" if len(calls) == 1 else "calls"
    where = f": {noun} {spans(calls)}" if calls else ""
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
        first_call=among_all(view, code, region, min(calls, default=None)),
    )


def silent_total(view: View, hit: Compile, number: int, *, alone: bool) -> Finding:
    """Silent calls of a recording in which calls were counted only."""
    region = view.region_of(hit)
    calls = sum(view.length(region) for region in view.roots.get(hit.code_object, ()))
    counted = counted_on(view, hit.code_object) is not None
    said = f"{count(number, 'lookup')} found no entry and ran eagerly, unannounced"
    if counted:
        said = _runs_of(view, hit.code_object, number)
    if alone and calls:
        said = (
            f"{count(number, 'call')} of {calls} of {view.target(region)} ran eagerly, unannounced"
        )
    tool = instrument("eager runs" if counted else "lookups", view.arm)
    other = _otherwise(view, hit.code_object)
    said += f" (calls less entry runs and misses: {other})" if other is not None else ""
    evidence = Evidence(tool, said, arm=view.arm.name)
    found = _silent_runs(view, hit.code_object, number, said, evidence)
    if not alone:
        found = replace(found, sentence=f"{said} (all regions together)")
    return replace(found, region=region, site=view.site(region, hit.code_object))


def silent_since(view: View, code_object: int, number: int) -> Finding:
    """Silent runs past a limit that was hit before the recording began."""
    said = f"{_runs_of(view, code_object, number)}: a limit was hit before the recording began"
    evidence = Evidence(instrument("eager runs", view.arm), said, arm=view.arm.name)
    found = _silent_runs(view, code_object, number, said, evidence)
    regions = view.regions_on(code_object)
    if len(regions) != 1:
        return found
    return replace(found, region=regions[0], site=view.site(regions[0], code_object))


def _silent_runs(view: View, code: int, number: int, said: str, evidence: Evidence) -> Finding:
    """Silent calls that were counted on one code object."""
    return Finding(
        id=f"silent-eager:{code}",
        slug="silent-eager",
        level="STABLE",
        severity="failure",
        sentence=said,
        site=view.site(None, code),
        count=number,
        cost=FindingCost(calls=number),
        evidence=(evidence,),
        code_object=code,
    )


def silent_unexplained(view: View, number: int) -> Finding:
    """Silent lookups of a recording in which no limit was seen to be hit."""
    region = view.called[0] if len(view.called) == 1 else None
    said = (
        f"{count(number, 'lookup')} found no entry and ran eagerly, unannounced, though no limit "
        f"was hit: as under the stance eager_on_recompile, or torch._dynamo.run"
    )
    return Finding(
        id="silent-eager:all",
        slug="silent-eager",
        level="STABLE",
        severity="failure",
        sentence=said,
        site=view.site(region),
        count=number,
        cost=FindingCost(calls=number),
        evidence=(Evidence(instrument("lookups", view.arm), said, arm=view.arm.name),),
        region=region,
    )


def _runs_of(view: View, code_object: int, number: int) -> str:
    verb = "was" if number == 1 else "were"
    return f"{count(number, 'run')} of {view.frame(code_object)} {verb} eager, unannounced"


def _otherwise(view: View, code_object: int) -> int | None:
    """What subtraction says, where it differs from what the interpreter counted."""
    counted, other = counted_on(view, code_object), subtracted_on(view, code_object)
    return None if counted is None or other == counted else other


def switched_off(view: View, event: Compile, after: list[int]) -> Finding:
    """A code object that had served was switched off: by which call, and what followed."""
    region = view.region_of(event)
    name = view.frame(event.code_object, view.target(region))
    by = f" by call {event.call}{_changed(event)}" if event.call is not None else ""
    why = _why_off(event)
    noun = "call" if len(after) == 1 else "calls"
    later = f"{count(len(after), 'later call')} ran eagerly: {noun} {spans(after)}"
    eager = f"; {later}" if after else ""
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
        guarded=guarded_at(view, failures_of(event)),
        evidence=(
            Evidence(instrument("compile records", view.arm), why, arm=view.arm.name),
            *quoted(view, [event]),
        ),
        region=region,
        code_object=event.code_object,
        first_call=call_number(view, event),
    )


def _changed(event: Compile) -> str:
    """What made Dynamo trace it anew: the assumption that the newest entry names."""
    found = next(iter(failures_of(event)), None)
    if found is None or not found.subject:
        return ""
    was = f", expected {short(found.expected)}" if found.expected else ""
    axis = f" changed size on axis {found.axis}" if found.kind == "size" else " changed"
    return f" ({by_name(found)}{axis}{was})"


def _why_off(event: Compile) -> str:
    if event.raised:
        return f"its new trace raised {event.raised.type}"
    if was_empty(event) or not (event.breaks or event.why):
        return f"when it was traced anew, {EMPTY_WORDS}"
    if event.breaks:
        at = f" at {event.breaks[0].place}" if event.breaks[0].place else ""
        return f"its new trace broke where it cannot resume: {reason_of(event.breaks[0])}{at}"
    return event.why.split("\n")[0]
