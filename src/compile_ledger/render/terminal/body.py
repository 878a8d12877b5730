"""The body of the page: findings, breaks, and what is not known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from compile_ledger.facts.place import Place
from compile_ledger.render.break_rows import break_cost, per_call
from compile_ledger.render.gaps import gaps
from compile_ledger.render.levels import TITLES
from compile_ledger.render.ranking import Group, groups
from compile_ledger.render.words import (
    NOT_MEASURED,
    cut_left,
    cut_right,
    place,
)

if TYPE_CHECKING:
    from compile_ledger.judge.document import BreakRow, Finding, Ledger

    from .page import Page

FINDING_INDENT = 6
MOST_OF_A_KIND = 4
MOST_BREAKS = 8


def findings(page: Page, ledger: Ledger) -> None:
    """Findings by kind, failures first, then by cost; what can be ignored says so."""
    ranked = groups(ledger.findings)
    if not ranked:
        return
    page.section("findings", "failures first, then by cost")
    for group in ranked:
        _group(page, group)


def _group(page: Page, group: Group) -> None:
    failure = group.severity == "failure"
    mark = ("✗", "bold red") if failure else ("·", "dim")
    times = f" ×{group.count:,}" if group.count > 1 else ""
    page.hang((f"  {mark[0]}", mark[1]), (group.slug, "bold"), f"{times}: {group.title}", indent=4)
    price = f"; cost {group.price}" if group.price else ""
    page.line((f"{group.severity} of {TITLES[group.level]}{price}", "dim"), indent=FINDING_INDENT)
    if group.ignorable:
        page.line((f"can be ignored: {group.ignorable}", "green"), indent=FINDING_INDENT)
    for finding in group.findings[:MOST_OF_A_KIND]:
        _finding(page, finding)
    rest = len(group.findings) - MOST_OF_A_KIND
    if rest > 0:
        page.line(f"and {rest} more of this kind", indent=FINDING_INDENT)
    if group.pointer:
        page.line((group.pointer, "dim"), indent=FINDING_INDENT)


def _finding(page: Page, finding: Finding) -> None:
    page.line(finding.sentence, indent=FINDING_INDENT)
    if finding.site is not None:
        at = place(finding.site, page.width - FINDING_INDENT - 3)
        page.line((f"at {at}", "dim"), indent=FINDING_INDENT)
    if finding.source:
        said = cut_right(finding.source, page.width - FINDING_INDENT - 3)
        page.line((said, "dim"), indent=FINDING_INDENT + 3)
    if finding.library is not None:
        at = place(finding.library, page.width - FINDING_INDENT - 11)
        page.line((f"in library {at}", "dim"), indent=FINDING_INDENT)
    if finding.guarded is not None:
        at = place(finding.guarded, page.width - FINDING_INDENT - 11)
        page.line((f"guarded at {at}", "dim"), indent=FINDING_INDENT)


def breaks(page: Page, ledger: Ledger) -> None:
    """Graph breaks: place, times executed per call, measured cost, reason."""
    if not ledger.breaks:
        return
    page.section("graph breaks")
    for row in ledger.breaks[:MOST_BREAKS]:
        _break(page, row)
    if len(ledger.breaks) > MOST_BREAKS:
        page.line(f"and {len(ledger.breaks) - MOST_BREAKS} more", indent=2)


def _break(page: Page, row: BreakRow) -> None:
    if row.user is not None:
        page.line((place(row.user, page.width - 2), "bold"), indent=2)
    where = place(Place(row.file, row.line), page.width - 13)
    page.line((f"in library {where}" if row.user else where, "bold"), indent=4 if row.user else 2)
    hint = f" [{row.hint_id}]" if row.hint_id else ""
    page.line(row.reason, (hint, "dim"), indent=FINDING_INDENT)
    page.line(f"per call: {per_call(row)}; cost: {break_cost(row.cost)}", indent=FINDING_INDENT)
    if row.removal:
        page.line((row.removal, "dim"), indent=FINDING_INDENT)


def not_measured(page: Page, ledger: Ledger) -> None:
    """What the ledger does not know, why, and the command that would supply it."""
    missing = gaps(ledger)
    if not missing:
        return
    page.section(NOT_MEASURED)
    for gap in missing:
        page.line((gap.what, "bold"), f": {gap.why}" if gap.why else "", indent=2)
        if gap.command:
            page.command(gap.command, indent=4)


def environment(page: Page, ledger: Ledger) -> None:
    """One closing line: target, torch, device, our version."""
    seen = ledger.environment.environment
    parts = [f"compile-ledger {ledger.tool_version}", cut_left(ledger.target, page.width)]
    parts += [f"torch {seen.torch}"] if seen.torch else []
    parts += [] if seen.device == "cpu" else [seen.device]
    page.blank()
    page.flow([((part, "dim"),) for part in parts], " · ", indent=0)
