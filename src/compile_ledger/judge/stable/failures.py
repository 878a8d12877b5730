"""Every way in which an arm's graphs stop serving, the cause before its effects."""

from __future__ import annotations

from collections.abc import Iterator

from compile_ledger.facts.compile import Compile
from compile_ledger.judge.document import Finding
from compile_ledger.judge.view import View
from compile_ledger.judge.words import count

from .at_call import at_call
from .causes import ABSORBED, blamed, by_name, cause, leading
from .limit_without_effect import raised_in_vain
from .loss_findings import (
    cache_limit,
    silent_eager,
    silent_since,
    silent_total,
    silent_unexplained,
    switched_off,
)
from .recompile_findings import Story, cause_of, compiled_anew, recompiles, unnamed_recompiles
from .recurrence import Recurring, ending, made_anew
from .shadowed import shadowed
from .shared_line import shared_failure, unrelated
from .silent import counted_past_limits, silent_after, silent_calls, silent_lookups
from .stances import silent_under_stances, stance_failures
from .stream import Stream, streams


def failures(view: View) -> tuple[Finding, ...]:
    """All failures of STABLE in one arm; what cost most calls comes first."""
    limited = {hit.code_object: hit for hit in reversed(view.compiles) if hit.hit_limit}
    found: list[Finding] = []
    counted: set[tuple[int, int]] = set()
    for hit in limited.values():
        found += _limited(view, hit, counted)
    for stream in streams(view):
        found += _recurring(view, stream, set(limited))
    found += [compiled_anew(view, anew) for anew in made_anew(view)]
    found += _off(view)
    found += shadowed(view)
    found += _unexplained(view, counted)
    found += _limited_before(view, set(limited))
    found += stance_failures(view)
    return tuple(found)


def _limited(view: View, hit: Compile, counted: set[tuple[int, int]]) -> Iterator[Finding]:
    """The cause of a limit, the limit, and the silent calls that followed."""
    regions = view.regions_on(hit.code_object)
    silent = [at for at in silent_calls(view, regions) if at not in counted]
    counted.update(silent)
    counted_only, alone = silent_after(view, hit.code_object)
    number = len(silent) or counted_only
    same = tuple(c for c in view.compiles if c.code_object == hit.code_object)
    found = cause_of(view, hit)
    limit = cache_limit(view, hit)
    calls = sum(view.length(region) for region in regions)
    if unrelated(view, hit.code_object):
        yield shared_failure(view, hit, number)
    elif found:
        yield recompiles(view, Story(found, same, _how_it_ends(view, hit, number), number, calls))
    yield limit
    yield from raised_in_vain(view, hit)
    for region in regions:
        mine = [index for of, index in silent if of == region]
        if mine:
            yield silent_eager(view, region, hit.code_object, mine)
    if number and not silent:
        yield silent_total(view, hit, number, alone=alone)


def _how_it_ends(view: View, hit: Compile, silent: int) -> str:
    value = f" ({hit.limit_value})" if hit.limit_value is not None else ""
    vain = next(raised_in_vain(view, hit), None)
    name = f"{hit.limit or 'the recompile limit'}{value}"
    at = f"{at_call(view, hit)}{f' ({vain.sentence})' if vain else ''}"
    raising = sum(c.hit_limit for c in view.compiles if c.code_object == hit.code_object)
    if hit.outcome == "raised":
        return f"{name} was hit{at}, and {count(raising, 'call')} raised ({_error(hit)})"
    if not silent:
        return f"{name} was hit{at}"
    return f"{name} was hit{at}, then {count(silent, 'call')} ran eagerly, unannounced"


def _error(hit: Compile) -> str:
    return hit.raised.type.rpartition(".")[2] if hit.raised else "with fullgraph=True"


def _recurring(view: View, stream: Stream, limited: set[int]) -> Iterator[Finding]:
    """Causes that still compile in the tail, where no limit has said so already."""
    if stream.too_short:
        return
    for still in ending(stream).recurring:
        if still.compiles[-1].code_object not in limited:
            yield _still(view, stream, still)


def _still(view: View, stream: Stream, still: Recurring) -> Finding:
    if still.key is None:
        return unnamed_recompiles(view, still, stream.length)
    found = cause(still.key, still.compiles)
    code = still.compiles[-1].code_object
    events = tuple(e.compile for e in stream.events if e.compile.code_object == code)
    tail = f"still compiling: {count(still.in_tail, 'recompile')} in the last {stream.tail} calls"
    alike = [e for e, key in blamed(events) if key and {key.kind, still.key.kind} <= set(ABSORBED)]
    most = leading(alike)
    if most is not None and most.key != still.key and most.compiles >= found.compiles:
        tail = f"{tail}, on {still.key.worded(by_name(found.first))}"
        found = most
    return recompiles(view, Story(found, events, tail, 0, stream.length))


def _off(view: View) -> Iterator[Finding]:
    """Code objects that had served and are skipped for good from some call on."""
    seen: set[int] = set()
    for event in view.compiles:
        code = event.code_object
        if event.outcome not in ("switched_off", "skipped", "raised") or code in seen:
            continue
        if event.stance:
            continue
        after = _calls_after(view, event)
        if not view.had_entries(event) or (event.outcome != "switched_off" and not after):
            continue
        seen.add(code)
        yield switched_off(view, event, after)


def _calls_after(view: View, event: Compile) -> list[int]:
    region = view.region_of(event)
    calls = view.calls.get(region, ()) if region is not None else ()
    by = event.call if event.call is not None else -1
    off = (c for c in calls if c.disposition in ("switched_off", "skipped") and not c.graphs)
    return [c.index for c in off if c.index > by and not c.stance]


def _unexplained(view: View, counted: set[tuple[int, int]]) -> Iterator[Finding]:
    """Calls that fell back although no limit was seen to be hit."""
    unexplained = silent_lookups(view) - counted_past_limits(view) - silent_under_stances(view)
    if unexplained > 0 and not any(c.hit_limit for c in view.compiles):
        yield silent_unexplained(view, unexplained)
    for region in view.calls:
        rest = [at for at in silent_calls(view, [region]) if at not in counted]
        if rest:
            yield silent_eager(view, region, None, [index for _, index in rest])


def _limited_before(view: View, limited: set[int]) -> Iterator[Finding]:
    """Code that ran eagerly past a limit that this recording did not see being hit."""
    counters = view.arm.counters
    for eager in () if counters is None or view.arm.calls else counters.eager:
        if eager.silent and eager.code_object not in limited:
            yield silent_since(view, eager.code_object, eager.silent)
