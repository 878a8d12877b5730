"""An experiment: one change, and whether the failure's mechanism went with it."""

from __future__ import annotations

from typing import Any, Literal

from compile_ledger.facts.arm import Arm

from .captured.breaks import distinct
from .captured.findings import lost_frames
from .captured.graphs import graph_readings
from .document import ExperimentRow, Outcome, Reading
from .prices import compile_seconds
from .stable.failures import failures
from .stable.recurrence import ending
from .stable.stream import Stream, streams
from .view import View, look
from .words import count

Expected = Literal["settles", "no_limit"]


def reading(arm: Arm) -> Reading:
    """What one arm shows of stability and of capture."""
    view = look(arm)
    seen = streams(view)
    of = _total(seen)
    entries = sum(c.kept for c in view.compiles)
    return Reading(
        arm=arm.name,
        compiles=entries,
        recompiles=sum(c.outcome == "recompiled" for c in view.compiles),
        refused=max(of["refused"], sum(c.outcome == "refused" for c in view.compiles)),
        fell_back=of["fell_back"],
        switched_off=of["switched_off"],
        settled=settled(view, seen),
        graph_runs=_runs(arm),
        entries=entries,
        cpu_seconds=compile_seconds(view, [c for c in view.compiles if c.kept]),
        **_captured(view),
    )


def _captured(view: View) -> dict[str, Any]:
    """What the arm shows of capture: graphs per call over all regions, frames, breaks."""
    found = graph_readings(view)
    known = [one for one in found if one] if all(found) else []
    return {
        "graphs_low": min((float(one.low) for one in known), default=None),
        "graphs_high": max((float(one.high) for one in known), default=None),
        "frames_skipped": len(lost_frames(view)),
        "breaks": len(distinct(b for c in view.compiles for b in c.breaks)),
    }


def settled(view: View, seen: tuple[Stream, ...]) -> bool | None:
    """True when compiling has ended and nothing fell out of the graphs; None: too short."""
    if failures(view):
        return False
    long = [stream for stream in seen if not stream.too_short]
    late = any(ending(stream).late for stream in long)
    return None if late or not long else True


def judge_experiment(  # noqa: PLR0913, PLR0917  an experiment is these six things
    before: Arm, after: Arm, name: str, change: str, tests: str, expects: Expected = "settles"
) -> ExperimentRow:
    """Compare the arm before the change with the arm after it.

    ``expects`` is what the change does when the diagnosis is right: the workload
    settles, or it keeps compiling and is never refused (``no_limit``).
    """
    first = reading(before)
    if not after.ran:
        why = f"not resolved: the experiment's arm {after.status}: {after.why or 'no reason'}"
        return ExperimentRow(name, change, tests, first, None, "not_resolved", why)
    second = reading(after)
    outcome, said = _outcome(first, second)
    if expects == "no_limit":
        outcome, said = _unchanged(before, after) or _made_room(first, second)
    sentence = f"{said}: with {change}, {_words(second)} (before: {_words(first)})"
    return ExperimentRow(name, change, tests, first, second, outcome, sentence)


def _outcome(before: Reading, after: Reading) -> tuple[Outcome, str]:
    if before.settled is not False:
        return "not_resolved", "not resolved: nothing failed before the change"
    if after.settled is None or not after.compiles:
        return "not_resolved", "not resolved: the stream is too short to tell"
    if after.settled:
        return "holds", "diagnosis holds"
    if _less(before, after):
        return "not_resolved", "not resolved: the failure shrank but remains"
    return "refuted", "diagnosis refuted"


def _made_room(before: Reading, after: Reading) -> tuple[Outcome, str]:
    """The limit raised: the calls that it refused must now make entries of their own."""
    if not (before.refused or before.fell_back):
        return "not_resolved", "not resolved: no limit was hit before the change"
    if after.refused or after.fell_back:
        return "not_resolved", "not resolved: the higher limit was hit, too"
    if after.compiles <= before.compiles:
        return "refuted", "diagnosis refuted: no further entry was made"
    if after.settled:
        return "holds", "diagnosis holds: with room for all values it settles"
    grown = "every new value makes one more entry, without bound"
    return "not_resolved", f"no cure: a higher limit only moves the end, {grown}"


def _unchanged(before: Arm, after: Arm) -> tuple[Outcome, str] | None:
    """Where the limit that was hit is the same as before: the program sets it itself."""
    same = _limits(before) & _limits(after)
    if not same:
        return None
    name, value = min(same)
    return "not_resolved", f"not resolved: no change was made, the program sets {name} = {value}"


def _limits(arm: Arm) -> set[tuple[str, int | None]]:
    return {(c.limit, c.limit_value) for c in arm.compiles if c.hit_limit and c.limit_value}


def _less(before: Reading, after: Reading) -> bool:
    """True when the change removed the limit though something else still fails."""
    return bool(before.refused) and not after.refused and after.recompiles < before.recompiles


def _words(found: Reading) -> str:
    said = [count(found.compiles, "compile")]
    if found.refused:
        said.append(f"{found.refused} refused")
    if found.fell_back:
        said.append(f"{found.fell_back} fell back")
    if found.switched_off:
        said.append(f"{found.switched_off} switched off")
    states = {True: "settled", False: "not settled", None: "too short to tell"}
    return ", ".join([*said, states[found.settled]])


def _total(seen: tuple[Stream, ...]) -> dict[str, int]:
    names = ("refused", "fell_back", "switched_off")
    return {name: sum(stream.counted()[name] for stream in seen) for name in names}


def _runs(arm: Arm) -> int | None:
    counted = [call.graphs for call in arm.calls if call.graphs is not None]
    if counted:
        return sum(counted)
    entries = arm.counters.entries if arm.counters else ()
    return sum(entry.runs for entry in entries) if entries else None
