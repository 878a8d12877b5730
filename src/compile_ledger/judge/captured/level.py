"""Level 3, CAPTURED: how much of each served call runs in graphs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from compile_ledger.facts.contract import Contract
from compile_ledger.judge.choose import Arms, deciding_capture
from compile_ledger.judge.document import Finding
from compile_ledger.judge.instruments import instrument
from compile_ledger.judge.judged import Judged, failed, judged, not_measured
from compile_ledger.judge.stable.stances import as_forced
from compile_ledger.judge.suggest import audit_command
from compile_ledger.judge.view import View, look
from compile_ledger.judge.words import count

from .break_cost import Price, price_of
from .breaks import breaks_in
from .bypass import bypasses
from .findings import (
    eager_tail,
    frame_skipped,
    graph_break,
    lost_frames,
    no_graph,
    observers,
    tail_off,
)
from .graphs import GraphsPerCall, graph_readings
from .operators import LEAST, eager_operators, eager_words, operators_of
from .shut_out import shut_out_words


def judge_captured(arms: Arms, contract: Contract) -> Judged:
    """Judge CAPTURED by graph executions per served call, and by frames skipped."""
    command = audit_command(contract)
    arm = deciding_capture(arms)
    if arm is None:
        return not_measured("CAPTURED", "no compiled arm saw a call", command)
    view = look(arm)
    readings = graph_readings(view)
    price = partial(_price, view, arms, contract)
    findings = _in_order(bypasses(arms, view), _findings(view, readings, price))
    if any(finding.severity == "failure" for finding in findings):
        return failed("CAPTURED", findings)
    shut_out = shut_out_words(view)
    if shut_out:
        return not_measured("CAPTURED", shut_out, findings=findings)
    known = [reading for reading in readings if reading]
    if not known or len(known) < len(readings):
        return not_measured("CAPTURED", _unseen(view), command, findings)
    return judged("CAPTURED", "holds", _holds(view, known, findings), findings)


def _in_order(round_it: list[Finding], inside: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """What was never called first; then what calls lack; then what some calls went round."""
    never = [one for one in round_it if one.severity == "failure"]
    return (*never, *inside, *(one for one in round_it if one not in never))


def _price(view: View, arms: Arms, contract: Contract, region: int | None) -> Price:
    breaks = breaks_in(view, region) if region is not None else []
    return price_of(arms, contract, region, breaks)


def _findings(
    view: View, readings: list[GraphsPerCall | None], price: Callable[[int | None], Price]
) -> tuple[Finding, ...]:
    """What is not captured: no graph at all first, then frames, then breaks; then notes."""
    known = [reading for reading in readings if reading]
    bare = [as_forced(view, no_graph(view, r, price(r.region))) for r in known if r.high == 0]
    without = {reading.region for reading in known if reading.high == 0}
    skipped = [
        frame_skipped(view, event, price(view.region_of(event)))
        for event in lost_frames(view)
        if view.region_of(event) not in without
    ]
    broken = [graph_break(view, r, price(r.region)) for r in known if r.high > 1]
    tails = [
        eager_tail(view, reading, off, price(reading.region))
        for reading in known
        if reading.high == 1 and (off := tail_off(view, reading.region))
    ]
    tails = [_weighed(view, tail) for tail in tails]
    found = (*bare, *skipped, *tails, *broken)
    failing = {one.region for one in found if one.severity == "failure"}
    eager = (eager_operators(view, reading) for reading in known if reading.region not in failing)
    regions = dict.fromkeys(one.region for one in found if one.region is not None)
    looking = (observers(view, region) for region in regions)
    every = (*found, *(one for one in (*eager, *looking) if one))
    return tuple(sorted(every, key=lambda one: one.severity == "note"))


def _weighed(view: View, tail: Finding) -> Finding:
    """What follows a break is a note where its operators take next to no time."""
    found = operators_of(view, tail.region if tail.region is not None else -1)
    if isinstance(found, str) or not found.negligible or found.samples < LEAST:
        return tail
    return replace(tail, severity="note", sentence=f"{tail.sentence}; {eager_words(found)}")


def _unseen(view: View) -> str:
    if not view.regions and not view.calls:
        return f"no torch.compile region was seen in the {view.arm.name} arm"
    absent = [c for c in view.arm.capabilities if c.name == "entry-runs" and not c.present]
    if absent:
        return f"entry runs were not counted: {absent[0].why}"
    if not any(view.length(region) for region in view.regions) and not view.calls:
        return "the regions were made but never called"
    return f"the graphs of some region's calls could not be counted in the {view.arm.name} arm"


def _holds(view: View, readings: list[GraphsPerCall], notes: tuple[Finding, ...]) -> str:
    served = sum(reading.served for reading in readings)
    steady = all(reading.settled for reading in readings)
    made = served if steady else sum(reading.calls for reading in readings)
    calls = count(served, "call") if served == made else f"{served} of {count(made, 'call')}"
    kind = "steady call" if steady else "served call"
    tool = instrument("entry runs", view.arm)
    many = next((one.sentence for one in notes if one.slug == "graph-break"), "")
    if many:
        return f"more than one graph, which is a note: {many}"
    also = f"; {notes[0].sentence}" if notes else ""
    return f"1 graph per {kind}, no frame skipped ({calls}; {tool}){also}"
