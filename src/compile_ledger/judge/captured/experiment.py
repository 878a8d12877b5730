"""An experiment on graph breaks: one change, and whether the calls became one graph."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection

from compile_ledger.facts.arm import Arm
from compile_ledger.facts.graph_break import GraphBreak
from compile_ledger.facts.place import within_package
from compile_ledger.judge.document import ExperimentRow, Outcome, Reading
from compile_ledger.judge.experiments import reading
from compile_ledger.judge.view import look
from compile_ledger.judge.words import count

from .break_kinds import kind_of
from .break_words import reason_of
from .breaks import Key, breaks_in, breaks_of, key_of
from .findings import lost_frames, tail_off
from .graphs import graphs_per_call
from .operators import NEGLIGIBLE, operators_of


def judge_break_experiment(  # noqa: PLR0913, PLR0917  an experiment is these seven things
    before: Arm,
    after: Arm,
    name: str,
    change: str,
    tests: str,
    kinds: Collection[str],
    region: int | None = None,
) -> ExperimentRow:
    """Compare graphs per call and breaks before and after the change.

    ``kinds`` are the kinds of break that the change is about, ``region`` the one that it is
    diagnosed for; None: all together.
    """
    only = None if region is None else (region,)
    first = _reading(before, region)
    if not after.ran:
        why = f"not resolved: the experiment's arm {after.status}: {after.why or 'no reason'}"
        return ExperimentRow(name, change, tests, first, None, "not_resolved", why, "CAPTURED")
    second = _reading(after, region)
    known = breaks_of(before, only)
    tested = {key_of(b) for b in known if kind_of(b).name in kinds}
    seen = {key_of(b) for b in known}
    outcome, said = _outcome(first, second, tested, seen, breaks_of(after, only))
    had, has = eager_left(before, region), eager_left(after, region)
    if outcome == "holds" and has:
        outcome, said = "not_resolved", "not resolved: operators still run outside the graph"
    sentence = f"{said}: with {change}, {_words(second)}{has} (before: {_words(first)}{had})"
    return ExperimentRow(name, change, tests, first, second, outcome, sentence, "CAPTURED")


def eager_left(arm: Arm, region: int | None) -> str:
    """``, 7 of 9 operators eager`` where more than next to nothing is; else empty."""
    view = look(arm)
    asked = view.called if region is None else (region,)
    found = [one for one in (operators_of(view, r) for r in asked) if not isinstance(one, str)]
    worst = max(found, key=lambda one: one.low, default=None)
    if worst is None or worst.low < NEGLIGIBLE:
        return ""
    return f", {worst.outside} of {worst.total} operators eager"


def _reading(arm: Arm, region: int | None) -> Reading:
    """What an arm shows, of capture for one region where one is meant."""
    found = reading(arm)
    if region is None:
        return found
    view = look(arm)
    graphs = graphs_per_call(view, region)
    skipped = sum(view.region_of(event) == region for event in lost_frames(view))
    return dataclasses.replace(
        found,
        graphs_low=None if graphs is None else float(graphs.low),
        graphs_high=None if graphs is None else float(graphs.high),
        frames_skipped=skipped + (tail_off(view, region) is not None),
        breaks=len(breaks_in(view, region)),
    )


def removed(row: ExperimentRow) -> bool:
    """Whether the change left fewer graphs in a call, or the first graph at all."""
    if row.level != "CAPTURED" or row.before is None or row.after is None:
        return False
    before, after = row.before.graphs_high, row.after.graphs_high
    if before is None or not after:
        return False
    return row.outcome == "holds" or after < before or before == 0


def _outcome(
    before: Reading, after: Reading, tested: set[Key], seen: set[Key], left: list[GraphBreak]
) -> tuple[Outcome, str]:
    if after.graphs_high is None or before.graphs_high is None:
        return "not_resolved", "not resolved: graphs were not counted"
    if after.graphs_low == after.graphs_high == 1 and not after.frames_skipped:
        return "holds", "diagnosis holds"
    if tested & {key_of(found) for found in left}:
        return "refuted", "diagnosis refuted: the break is still there"
    other = next((found for found in left if key_of(found) not in tested), None)
    if other is None:
        return "not_resolved", "not resolved: the break is gone, its graphs are not one"
    what = reason_of(other) + (f" at {within_package(other.place)}" if other.place else "")
    if key_of(other) in seen:
        return "not_resolved", f"not resolved: that break is gone, {what} is left"
    return "not_resolved", f"not resolved: that break is gone, and uncovers another: {what}"


def _words(found: Reading) -> str:
    low, high = found.graphs_low, found.graphs_high
    if low is None or high is None:
        return "graphs not counted"
    span = f"{low:g}" if low == high else f"{low:g} to {high:g}"
    graphs = f"{span} graph{'' if span == '1' else 's'} per call"
    skipped = f", {count(found.frames_skipped, 'frame')} skipped" if found.frames_skipped else ""
    return graphs + skipped
