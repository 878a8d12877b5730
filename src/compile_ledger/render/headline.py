"""What a reader is told first, the same in every form: verdict, place, cost, experiment."""

from __future__ import annotations

from dataclasses import dataclass

from compile_ledger.facts.calls import SERVED
from compile_ledger.facts.place import Place
from compile_ledger.judge.document import Cost, Ledger, LevelName, NextStep, RegionRow, Status

from .levels import MARKS, TITLES
from .words import NOT_MEASURED, because, counted, listed, place, seconds, sentence

_MOST_WARNINGS = 2
"""Cache lines that are nearly full and named at the top."""


@dataclass(frozen=True, slots=True)
class Headline:
    """The verdict in parts. Texts are as the ledger has them: the forms escape them."""

    status: Status
    """``fails``; ``holds`` when all five levels do; else what kept them from it."""
    title: str
    """``STABLE fails``, ``No level fails``."""
    cause: str
    where: Place | None
    guarded: Place | None
    """The user's line whose assumption stopped holding, where that is another one."""
    cost: str
    """Seconds and calls; ``""`` when no level fails."""
    experiments: tuple[str, ...]
    remarks: tuple[str, ...]
    """What qualifies the verdict: interrupted, provisional, an unproven level."""
    library: Place | None = None
    """The line of a library that the place led to."""
    source: str = ""
    """The text of the place's line."""
    advice: str = ""
    """What to try next, where, and whether it was tested; ``""`` when nothing is known."""


def headline(ledger: Ledger) -> Headline:
    """The verdict of ``ledger`` in the order in which it is read."""
    remarks = tuple(_remarks(ledger))
    diagnosis = ledger.diagnosis
    level = None if diagnosis is None else diagnosis.level
    experiments = _experiments(ledger, level)
    advice = _advice(ledger.next_step)
    if diagnosis is None:
        status, title, cause = _without_failure(ledger)
        return Headline(status, title, cause, None, None, "", experiments, remarks, advice=advice)
    finding = next((f for f in ledger.findings if f.id == diagnosis.finding), None)
    return Headline(
        status="fails",
        title=f"{TITLES[diagnosis.level]} fails",
        cause=diagnosis.sentence,
        where=diagnosis.site,
        guarded=finding.guarded if finding else None,
        library=finding.library if finding else None,
        source=finding.source if finding else "",
        cost=_cost(ledger),
        experiments=experiments,
        remarks=remarks,
        advice=advice,
    )


def _advice(step: NextStep | None) -> str:
    if step is None:
        return ""
    at = place(step.site)
    where = f", at {at}" if at and at not in step.do and str(step.site) not in step.do else ""
    return f"{step.do}{where}" + (f" ({step.tested})" if step.tested else "")


def _experiments(ledger: Ledger, level: LevelName | None) -> tuple[str, ...]:
    """What each showed; beside one in which the diagnosis held, others were not enough."""
    rows = [row for row in ledger.experiments if level in (None, row.level)]
    held = tuple(row.sentence for row in rows if row.outcome == "holds")
    rest = tuple(row.sentence for row in rows if row.outcome != "holds")
    if held:
        rest = tuple(said.replace("diagnosis refuted:", "not enough:", 1) for said in rest)
    return (*held, *rest)


def _without_failure(ledger: Ledger) -> tuple[Status, str, str]:
    """Status, title and cause when no level fails."""
    held = [TITLES[level.level] for level in ledger.levels if level.status == "holds"]
    still_open = next((level for level in ledger.levels if level.status != "holds"), None)
    holding = f"{listed(held)} {'holds' if len(held) == 1 else 'hold'}."
    if still_open is None:
        return "holds", "No level fails", f"{holding} {sentence(ledger.levels[-1].why)}"
    gap = f"{TITLES[still_open.level]} is {MARKS[still_open.status].word}"
    if not held:
        return still_open.status, gap, still_open.why
    cause = f"{holding} {sentence(because(gap, still_open.why))}"
    return still_open.status, "No measured level fails", cause


def _cost(ledger: Ledger) -> str:
    calls = _unserved(ledger)
    if ledger.cost.compile_seconds is None and not calls:
        return ""
    parts = [*_paid(ledger.cost), calls or f"calls {NOT_MEASURED}"]
    captured = ledger.diagnosis is not None and ledger.diagnosis.level == "CAPTURED"
    if calls and captured and any(_served(region) for region in ledger.regions):
        parts.pop()  # What an entry served was not captured whole: a count would understate it.
    return "; ".join(parts)


def _paid(cost: Cost) -> list[str]:
    if cost.compile_seconds is None:
        return [because(f"compile seconds {NOT_MEASURED}", cost.why)]
    arm = f" (arm {cost.compile_arm})" if cost.compile_arm else ""
    paid = [f"{seconds(cost.compile_seconds)} CPU in calls that compiled{arm}"]
    if cost.cold_seconds is not None:
        paid.append(f"a cold start costs {seconds(cost.cold_seconds)} CPU beyond eager")
    return paid


def _unserved(ledger: Ledger) -> str:
    calls = sum(region.calls for region in ledger.regions)
    if not calls:
        return ""
    served = sum(map(_served, ledger.regions))
    known = sum(sum(region.dispositions.values()) for region in ledger.regions)
    return f"{known - served:,} of {counted(calls, 'call')} not fully compiled"


def _served(region: RegionRow) -> int:
    return sum(region.dispositions.get(name, 0) for name in SERVED)


def _remarks(ledger: Ledger) -> list[str]:
    remarks = []
    if ledger.interrupted:
        remarks.append("interrupted: what was measured before that is kept")
    if ledger.provisional:
        remarks.append("provisional: arms that could change the diagnosis are still to run")
    remarks += [f"this report disagrees with itself: {said}" for said in ledger.contradictions]
    ahead = [found for found in ledger.findings if found.slug == "limit-ahead"]
    full = [found for found in ahead if found.actual in ("0 left", "1 left")]
    remarks += [f"warning: {found.sentence}" for found in full[:_MOST_WARNINGS]]
    if ledger.unproven is not None and ledger.diagnosis is not None:
        remarks.append(because(f"{TITLES[ledger.unproven.level]} is unproven", ledger.unproven.why))
    return remarks
