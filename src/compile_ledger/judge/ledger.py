"""The whole ledger from all facts: five levels in order, then everything shown."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from compile_ledger.facts.arm import Arm
from compile_ledger.facts.contract import Contract

from .arm_rows import arm_rows
from .captured.break_rows import break_rows
from .captured.level import judge_captured
from .captured.opinions import opinion_rows
from .choose import EAGER, Arms, deciding_capture, deciding_stability
from .consistency import contradictions
from .correct.agreements import correctness
from .correct.level import judge_correct
from .document import (
    SCHEMA_VERSION,
    Correctness,
    EnvironmentRow,
    ExperimentRow,
    Finding,
    Ledger,
    Line,
    NotMeasured,
)
from .inputs import inputs_line
from .judged import Judged
from .lines import (
    assumption_line,
    capture_line,
    correctness_line,
    cost_line,
    region_line,
    stability_line,
    verdict_line,
)
from .lost_evidence import lost_evidence, unless_lost
from .next_step import next_step
from .program_names import with_program_names
from .rows import code_object_rows, region_rows
from .runs.level import judge_runs
from .sites import with_sites
from .stable.level import judge_stable
from .suggest import DEFAULT_PREFIX, with_prefix
from .verdict import diagnosis_of, leading_finding, unproven_of, verdict_of
from .view import View, look
from .worth_it.level import judge_worth_it, skipped
from .worth_it.payback import cost


def judge(  # noqa: PLR0913  the options of one document
    arms: Arms,
    contract: Contract,
    experiments: Sequence[ExperimentRow] = (),
    *,
    tool_version: str,
    provisional: bool = False,
    interrupted: bool = False,
    command_prefix: str = DEFAULT_PREFIX,
) -> Ledger:
    """Judge the facts of all arms."""
    levels = judge_levels(arms, contract)
    decider = deciding_stability(arms) or deciding_capture(arms)
    view = look(decider) if decider else None
    diagnosis = diagnosis_of(levels)
    findings = _findings(levels, arms)
    rows = tuple(one.level for one in levels)
    verdict = verdict_of(diagnosis, rows, experiments)
    spent = cost(arms, contract, decider)
    agreed = correctness(arms, contract)
    shown = deciding_capture(arms)
    breaks = break_rows(look(shown), arms, contract) if shown else ()
    ledger = Ledger(
        schema_version=SCHEMA_VERSION,
        tool_version=tool_version,
        target=contract.target,
        diagnosis=diagnosis,
        unproven=unproven_of(levels, command_prefix),
        levels=rows,
        regions=region_rows(view) if view else (),
        code_objects=code_object_rows(view) if view else (),
        breaks=breaks,
        opinions=opinion_rows(look(shown), arms) if shown else (),
        cache_lines=decider.cache_lines if decider else (),
        findings=findings,
        experiments=tuple(experiments),
        arms=arm_rows(arms),
        cost=spent,
        correctness=agreed,
        environment=_environment(decider or arms.get(EAGER)),
        not_measured=(*_not_measured(levels, command_prefix), *_not_compared(agreed)),
        lines=(
            *_lines(view, look(shown) if shown else None, levels, arms),
            cost_line(spent),
            correctness_line(agreed),
            verdict_line(verdict, leading_finding(diagnosis, findings)),
        ),
        verdict=verdict,
        raised=next((arm.raised for arm in arms.values() if arm.raised), None),
        provisional=provisional,
        interrupted=interrupted,
        next_step=next_step(diagnosis, findings, experiments, breaks, view),
    )
    return with_program_names(dataclasses.replace(ledger, contradictions=contradictions(ledger)))


def judge_levels(arms: Arms, contract: Contract) -> tuple[Judged, ...]:
    """The five levels in order; those after the first failing one are marked."""
    judged = [
        judge_runs(arms, contract),
        judge_correct(arms, contract),
        judge_captured(arms, contract),
        judge_stable(arms, contract),
    ]
    failed = next((one.level.level for one in judged if one.fails), "")
    judged = [unless_lost(one, arms) for one in judged]
    worth = unless_lost(judge_worth_it(arms, contract), arms)
    if failed and worth.level.status == "not_measured" and worth.command:
        worth = skipped(failed, contract)
    return _marked(with_sites([_of_first_calls(one, arms) for one in (*judged, worth)], arms))


def _of_first_calls(one: Judged, arms: Arms) -> Judged:
    """Say of what was seen in a program that we ended over how many calls it was seen."""
    choose = {"RUNS": lambda arms: arms.get(EAGER), "STABLE": deciding_stability}
    arm = choose.get(one.level.level, lambda _arms: None)(arms)
    if arm is None or arm.cut is None or one.level.status == "not_measured":
        return one
    why = f"{one.level.why} (seen over the first {arm.cut:,} calls; the program went on)"
    return dataclasses.replace(one, level=dataclasses.replace(one.level, why=why))


def _marked(judged: list[Judged]) -> tuple[Judged, ...]:
    marked, after = [], False
    for one in judged:
        level = dataclasses.replace(one.level, after_failure=after)
        marked.append(dataclasses.replace(one, level=level))
        after = after or one.fails
    return tuple(marked)


def _findings(levels: Sequence[Judged], arms: Arms) -> tuple[Finding, ...]:
    return (*(f for one in levels for f in one.findings), *lost_evidence(arms))


def _lines(
    view: View | None, shown: View | None, levels: Sequence[Judged], arms: Arms
) -> tuple[Line, ...]:
    return (
        region_line(view),
        inputs_line(view),
        capture_line(shown, levels[2].level, arms),
        assumption_line(view),
        stability_line(view, levels[3].level),
    )


def _environment(arm: Arm | None) -> EnvironmentRow:
    if arm is None or arm.header is None:
        return EnvironmentRow()
    return EnvironmentRow(arm.header.environment, arm.capabilities, arm.header.changed)


def _not_compared(agreed: Correctness) -> tuple[NotMeasured, ...]:
    """What CORRECT leaves out although it compared the rest."""
    if not agreed.compared:
        return ()
    return tuple(NotMeasured("CORRECT, in part", text) for text in agreed.not_compared)


def _not_measured(levels: Sequence[Judged], prefix: str) -> tuple[NotMeasured, ...]:
    return tuple(
        NotMeasured(one.level.level, one.level.why, with_prefix(one.command, prefix))
        for one in levels
        if one.level.status in ("not_measured", "not_resolved")
    )
