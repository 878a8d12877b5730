"""Rows of graph breaks: place, reason, how often each is executed per call."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from statistics import mean

from compile_ledger.facts.compile import Compile
from compile_ledger.facts.contract import Contract
from compile_ledger.facts.graph_break import GraphBreak
from compile_ledger.facts.place import origin
from compile_ledger.judge.choose import Arms
from compile_ledger.judge.document import BreakCost, BreakRow
from compile_ledger.judge.view import View, look, runs_of

from .break_cost import break_cost
from .break_kinds import INSIDE, could_capture, kind_of, removal
from .break_words import reason_of
from .breaks import breaks_of, key_of
from .graphs import graphs_per_call


def break_rows(
    view: View, arms: Arms | None = None, contract: Contract | None = None
) -> tuple[BreakRow, ...]:
    """One row for each distinct break (place and reason), in the order seen.

    Where the exception left the frame nothing was broken: level RUNS shows it.
    ``arms``: where the cost of breaks may have been measured.
    """
    found: defaultdict[tuple[str, str], list[tuple[Compile, GraphBreak]]] = defaultdict(list)
    for event in view.compiles:
        for broken in () if event.outcome == "raised" else event.breaks:
            found[str(broken.place), broken.reason].append((event, broken))
    rows = [_row(view, seen, arms or {}) for seen in found.values()]
    regions = [frozenset(view.region_of(e) for e, _ in seen) for seen in found.values()]
    costs = [
        break_cost(arms or {}, contract, seen[0][1], of)
        for seen, of in zip(found.values(), regions, strict=True)
    ]
    return tuple(
        replace(row, cost=replace(cost, together=_together(costs, regions, number)))
        for number, (row, cost) in enumerate(zip(rows, costs, strict=True))
    )


def _together(costs: list[BreakCost], regions: list[frozenset[int | None]], number: int) -> int:
    """How many breaks of the same regions have a cost: it is that of all of them."""
    if costs[number].cpu_ns is None:
        return 1
    same = (of & regions[number] for of in regions)
    return sum(bool(of) and cost.cpu_ns is not None for of, cost in zip(same, costs, strict=True))


def _row(view: View, seen: list[tuple[Compile, GraphBreak]], arms: Arms) -> BreakRow:
    event, first = seen[0]
    place = first.place
    edit = _edit(view, event, first)
    return BreakRow(
        file=place.file if place else "",
        line=place.line if place else 0,
        reason=reason_of(first),
        hint_id=first.hint_id,
        per_call=_per_call(view, [event for event, _ in seen]),
        function=place.function if place else "",
        seen=len(seen),
        kind=kind_of(first).name,
        removal=removal(first, _tested(view, event, first, arms), edit),
        edit=edit or kind_of(first).edit,
        user=first.user if first.library else None,
    )


def _tested(view: View, event: Compile, found: GraphBreak, arms: Arms) -> str:
    """What experiments did to a break: one that left none, else the last that lost it."""
    named, region = could_capture(found), view.region_of(event)
    gone = [
        arm
        for name, arm in arms.items()
        if name.startswith("experiment:")
        and arm.ran
        and any(setting in arm.change for setting in named)
        and key_of(found) not in map(key_of, breaks_of(arm))
    ]
    if not gone:
        return ""
    best = next((arm for arm in gone if not breaks_of(arm, (region,))), gone[-1])
    left = breaks_of(best, (region,))
    before, after = _graphs(view, region), _graphs(look(best), region)
    if not left or before is None or after is None or (after and (after < before or not before)):
        return f"{best.change} removed it"
    if after > before or not after:
        more = f"{after:g} graphs per call instead of {before:g}"
        return f"with {best.change} it is gone, and there are {more}"
    seen = set(map(key_of, breaks_of(view.arm, (region,))))
    new = next((b for b in left if key_of(b) not in seen and b.place), None)
    if new is None or new.place is None:
        return f"with {best.change} it is gone, and the graphs of a call are as many"
    if new.place == found.place:
        return f"with {best.change} this line breaks for another reason: {reason_of(new)}"
    same = found.place is not None and found.place.file == new.place.file
    to = f"line {new.place.line}" if same else str(new.place)
    return f"{best.change} moves it to {to}"


def _graphs(view: View, region: int | None) -> float | None:
    """Graphs per call of a region, the most."""
    reading = None if region is None else graphs_per_call(view, region)
    return None if reading is None else reading.high


def _edit(view: View, event: Compile, found: GraphBreak) -> str:
    """The edit for a line of a library's, which the user does not write; else empty.

    Where the region itself is a library's function no line of the user's leads there.
    """
    number = view.region_of(event)
    region = None if number is None else view.regions.get(number)
    root = None if region is None or region.root is None else view.code.get(region.root)
    library = {code.file for code in view.code.values() if code.library}
    installed = {str(p): p.file in library or origin(p.file) != "program" for p in found.stack}
    own = root is not None and (root.library or origin(root.file) != "program")
    if kind_of(found) is INSIDE or not installed.get(str(found.place), False):
        return ""
    if own and kind_of(found).logs:
        return "leave it to the setting: the line is a library's"
    if own:
        return ""
    line = next((at for at in reversed(installed) if not installed[at]), "")
    call = f"the call at {line}" if line else "your call that leads to this library code"
    return f"keep {call} outside the region"


def _per_call(view: View, events: list[Compile]) -> float | None:
    """Executions per served call: runs of the entries that end at the break."""
    ids = {(e.code_object, e.compile_id) for e in events if e.kept and e.compile_id}
    regions = {view.region_of(event) for event in events}
    calls = [
        call
        for region, every in view.calls.items()
        if region in regions
        for call in every
        if call.graphs is not None and call.disposition == "reused"
    ]
    if not ids or not calls:
        return None
    return round(mean(sum(runs_of(call, *entry) for entry in ids) for call in calls), 2)
