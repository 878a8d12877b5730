"""Findings of level CAPTURED: no graph, a frame skipped, more than one graph."""

from __future__ import annotations

from dataclasses import replace

from compile_ledger.facts.compile import Compile
from compile_ledger.facts.graph_break import GraphBreak
from compile_ledger.facts.place import Lines, Place, lines_of, within_package
from compile_ledger.judge.document import Evidence, Finding, FindingCost
from compile_ledger.judge.instruments import instrument
from compile_ledger.judge.view import View
from compile_ledger.judge.words import count, listed

from .break_cost import Price
from .break_kinds import kind_of
from .break_words import reason_of, worded
from .breaks import breaks_in, distinct
from .graphs import GraphsPerCall
from .skips import EMPTY_WORDS, nothing_lost, was_empty


def lost_frames(view: View) -> tuple[Compile, ...]:
    """Frames of the user's that Dynamo gave up before they ever had an entry.

    Left out: library code, frames skipped by rule or disabled by the user, and frames
    in which there was nothing to compile.
    """
    kept = {c.code_object for c in view.compiles if c.kept}
    found: dict[int, Compile] = {}
    for event in view.compiles:
        code = event.code_object
        if event.outcome != "switched_off" or code in kept or code in found:
            continue
        if not view.is_foreign(code) and not view.had_entries(event) and not nothing_lost(event):
            found[code] = event
    return tuple(found.values())


def no_graph(view: View, reading: GraphsPerCall, price: Price) -> Finding:
    """Not one graph ran: name why the frame was skipped."""
    region = reading.region
    events = view.compiles_of(region)
    known = view.regions.get(region)
    own = [c for c in events if known and c.code_object == known.root]
    lost = (c for c in (*own, *events) if c.outcome in ("skipped", "switched_off"))
    broken = (c for c in own if c.breaks)
    event = next(broken, None) or next(lost, None) or next(iter(events), None)
    why, at = _why(event)
    why = _hidden(event) + why
    calls = count(reading.calls, "call")
    frame = _frame_at(view, event)
    where = _at(at) or frame
    said = f"no graph ran in any of {calls} of {view.target(region)}: {why}{where}"
    return Finding(
        id=f"no-graph:{region}",
        slug="no-graph",
        level="CAPTURED",
        severity="failure",
        sentence=said + price.tail,
        site=at.user or view.site(region),
        library=at.library,
        subject=view.target(region),
        expected="1 graph per call",
        actual="0 graphs",
        count=reading.calls,
        cost=FindingCost(calls=reading.calls),
        evidence=_evidence(view, event, why),
        region=region,
        code_object=event.code_object if event else None,
    )


def frame_skipped(view: View, event: Compile, price: Price) -> Finding:
    """One frame runs eagerly although its region has graphs elsewhere."""
    name = view.frame(event.code_object)
    region = view.region_of(event)
    why, at = _why(event)
    why = _hidden(event) + why
    if at.user is None:
        at = _of_frame(view, event)
    return Finding(
        id=f"frame-skipped:{event.code_object}",
        slug="frame-skipped",
        level="CAPTURED",
        severity="failure",
        sentence=(
            f"Dynamo skipped {name}, all of its own code runs eagerly: {why}{_at(at)}{price.tail}"
        ),
        site=at.user or view.site(region),
        library=at.library,
        subject=name,
        evidence=_evidence(view, event, why),
        region=region,
        code_object=event.code_object,
    )


def tail_off(view: View, region: int) -> Compile | None:
    """What switched off the code after a break, which had been compiled before."""
    for event in view.compiles_of(region):
        code = view.code.get(event.code_object)
        resumes = code is not None and bool(code.resume_of)
        if event.outcome == "switched_off" and resumes and not nothing_lost(event):
            return event
    return None


def eager_tail(view: View, reading: GraphsPerCall, off: Compile, price: Price) -> Finding:
    """One graph runs, and what follows the break runs eagerly for good."""
    found = graph_break(view, reading, price)
    first = _splitting(view, reading.region)
    reason = reason_of(first) if first else "a graph break"
    where = _at(lines_of(first.stack)) if first else ""
    since = f" from call {off.call} on" if off.call is not None else ""
    return replace(
        found,
        severity="failure",
        sentence=(
            f"1 graph runs per call of {view.target(reading.region)}, and what follows the break"
            f" runs eagerly{since}: {reason}{where}; {price.words}"
        ),
        actual=f"{reading.text} graph per call, then Python",
    )


def graph_break(view: View, reading: GraphsPerCall, price: Price) -> Finding:
    """More than one graph runs in a served call; a note where that costs nothing."""
    region = reading.region
    breaks = breaks_in(view, region)
    first = _splitting(view, region)
    at = lines_of(first.stack) if first else Lines()
    return Finding(
        id=f"graph-break:{region}",
        slug="graph-break",
        level="CAPTURED",
        severity="note" if price.nothing else "failure",
        sentence=f"{_broken(view, reading, breaks)}; {price.words}",
        site=at.user or view.site(region),
        library=at.library,
        subject=view.target(region),
        expected="1 graph per call",
        actual=f"{reading.text} graphs per call",
        count=len(breaks) or 1,
        cost=FindingCost(why=price.words),
        evidence=(*(_quoted(view, b) for b in breaks[:5]), *price.evidence),
        region=region,
    )


def observers(view: View, region: int) -> Finding | None:
    """A note where diagnostics in the user's own lines break a region: print, warnings, logging."""
    breaks = [b for b in breaks_in(view, region) if kind_of(b).logs and b.place and not b.library]
    if not breaks:
        return None
    lines = listed(dict.fromkeys(f"{kind_of(b).name} at {b.place}" for b in breaks), 3)
    return Finding(
        id=f"observer-effect:{region}",
        slug="observer-effect",
        level="CAPTURED",
        severity="note",
        sentence=(
            f"looking at {view.target(region)} changes what is captured of it: {lines}; "
            "return the value and look at it outside the region"
        ),
        site=breaks[0].place,
        subject=view.target(region),
        count=len(breaks),
        evidence=tuple(_quoted(view, b) for b in breaks[:5]),
        region=region,
    )


def _broken(view: View, reading: GraphsPerCall, breaks: list[GraphBreak]) -> str:
    """How many graphs run, how often, and because of which line."""
    first = _splitting(view, reading.region)
    reason = reason_of(first) if first else "no break was recorded: several frames have graphs"
    place = first.place if first else None
    where = f"{_at(lines_of(first.stack))}{_others(breaks, place)}" if first and place else ""
    kind = "steady" if reading.settled else "served"
    some = (
        f" in {reading.many} of {reading.served} calls" if 0 < reading.many < reading.served else ""
    )
    target = view.target(reading.region)
    return f"{reading.text} graphs run per {kind} call of {target}{some}: {reason}{where}"


def _splitting(view: View, region: int) -> GraphBreak | None:
    """The first break behind a graph; one before any tensor operation splits nothing."""
    events = view.compiles_of(region)
    behind = (b for c in events if c.has_graph for b in c.breaks)
    return next(behind, next((b for c in events for b in c.breaks), None))


def _others(breaks: list[GraphBreak], shown: Place) -> str:
    """Other lines of the same file that break."""
    lines = dict.fromkeys(
        str(b.place.line) for b in breaks if b.place and b.place.file == shown.file
    )
    more = [line for line in lines if line != str(shown.line)]
    noun = "line" if len(more) == 1 else "lines"
    return f" (and at {noun} {listed(more, 3)})" if more else ""


def _at(at: Lines) -> str:
    """`` at case.py:25, in diffusers/schedulers/x.py:414``: the user's line, and what it led to."""
    inside = f", in {within_package(at.library)}" if at.library else ""
    return f" at {at.user}{inside}" if at.user else ""


def _of_frame(view: View, event: Compile) -> Lines:
    """Where a frame is that no break names: a library's beside the line that called it."""
    code = view.code.get(event.code_object)
    caller = (event.caller,) if event.caller else ()
    return lines_of((*caller, code.place)) if code else Lines()


def _frame_at(view: View, event: Compile | None) -> str:
    """`` (f, case.py:3)``: the frame where it is the program's."""
    code = view.code.get(event.code_object) if event else None
    return f" ({view.frame(code.id)}, {code.place})" if code and not code.library else ""


def _hidden(event: Compile | None) -> str:
    hid = event is not None and event.suppressed
    return "suppress_errors hid an exception: " if hid else ""


def _why(event: Compile | None) -> tuple[str, Lines]:
    """The runtime's reason for a skip, and the line of the user's that caused it."""
    if event is None:
        return "Dynamo never reached a frame of it", Lines()
    behind = next((b for b in event.breaks if b.left == "frame"), None)
    at = next((lines_of(b.stack) for b in (behind, *event.breaks) if b and b.stack), Lines())
    reason = reason_of(behind) if behind else worded(event.why)
    reason = reason or next((reason_of(b) for b in event.breaks), "")
    if was_empty(event) or not (reason or event.raised or event.graph_ops):
        return f"in its first call {EMPTY_WORDS}, so its code is skipped for good", at
    if not reason and event.raised:
        at = at if at.user else Lines(event.raised.place, event.raised.library)
        return event.raised.message.split("\n")[0], at
    return reason or "the runtime gives no reason", at


def _evidence(view: View, event: Compile | None, why: str) -> tuple[Evidence, ...]:
    tool = instrument("frames skipped", view.arm)
    quoted = [_quoted(view, b) for b in distinct(event.breaks)[:5]] if event else []
    return (Evidence(tool, why, arm=view.arm.name), *quoted)


def _quoted(view: View, found: GraphBreak) -> Evidence:
    stack = listed((str(place) for place in reversed(found.stack)), 3)
    hint = f" [{found.hint_id}]" if found.hint_id else ""
    text = f"{found.reason}{hint}" + (f" ({stack})" if stack else "")
    return Evidence(instrument("graph breaks", view.arm), text, arm=view.arm.name)
