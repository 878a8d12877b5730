"""Whether a ledger agrees with itself: the same quantity, told in two of its places."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from .document import ArmRow, CodeObjectRow, Ledger, Level, RegionRow

_EAGER = ("refused", "fell_back")
"""Dispositions that STABLE never holds beside."""


def contradictions(ledger: Ledger) -> tuple[str, ...]:
    """One sentence for each pair of places that disagree; empty when none does.

    Only what both places claim to know is compared: a number beside "not measured"
    contradicts nothing.
    """
    checks = (_verdict, _findings, _dispositions, _stable, _captured, _lines, _strips)
    return tuple(said for check in checks for said in check(ledger))


def _verdict(ledger: Ledger) -> Iterator[str]:
    """The diagnosis is the first failing level, and its finding is listed."""
    first = next((level for level in ledger.levels if level.status == "fails"), None)
    named = ledger.diagnosis.level if ledger.diagnosis else None
    if (first.level if first else None) != named:
        yield f"the diagnosis names {named}, the first level that fails is {first and first.level}"
    if ledger.diagnosis and ledger.diagnosis.finding not in {f.id for f in ledger.findings}:
        yield f"the diagnosis rests on {ledger.diagnosis.finding}, which is not among the findings"
    if ledger.next_step and not ledger.diagnosis:
        yield "a next step is named where no level fails"


def _findings(ledger: Ledger) -> Iterator[str]:
    """A level fails exactly when one of its findings is a failure."""
    by_id = {finding.id: finding for finding in ledger.findings}
    for level in ledger.levels:
        missing = [name for name in level.findings if name not in by_id]
        if missing:
            yield f"{level.level} names findings that are not listed: {', '.join(missing)}"
        severe = any(by_id[n].severity == "failure" for n in level.findings if n in by_id)
        if severe != (level.status == "fails") and level.status != "not_measured":
            yield f"{level.level} {level.status}, and its findings say otherwise"


def _dispositions(ledger: Ledger) -> Iterator[str]:
    """Calls of a region that have a disposition are no more than its calls."""
    for region in ledger.regions:
        known = sum(region.dispositions.values())
        if known > region.calls:
            yield f"region {region.id}: {known:,} dispositions of {region.calls:,} calls"


def _stable(ledger: Ledger) -> Iterator[str]:
    """Nothing was refused or fell back where STABLE holds."""
    if _status(ledger, "STABLE") != "holds":
        return
    for region in ledger.regions:
        eager = sum(region.dispositions.get(name, 0) for name in _EAGER)
        if eager:
            yield f"STABLE holds, and {eager:,} calls of region {region.id} were refused a graph"
    for code in ledger.code_objects:
        if code.limit is not None:
            yield f"STABLE holds, and {code.name} hit {code.limit.name}"


def _captured(ledger: Ledger) -> Iterator[str]:
    """Some graph exists where CAPTURED holds."""
    if _status(ledger, "CAPTURED") == "holds" and not any(c.graphs for c in ledger.code_objects):
        yield "CAPTURED holds, and no code object has a graph"


def _lines(ledger: Ledger) -> Iterator[str]:
    """A cache line has no entry that the code object's compiles did not leave."""
    by_id = {code.id: code for code in ledger.code_objects}
    for reading in ledger.cache_lines:
        code = by_id.get(reading.code_object)
        if code is None:
            continue
        ids = {entry.compile_id for entry in code.cache_line}
        more = [e.compile_id for e in reading.line.entries if e.compile_id not in ids]
        if ids and more:
            yield f"the cache line of {code.name} holds {', '.join(more)}, which nobody compiled"
        yield from _runs(code, {e.compile_id: e.runs.value for e in reading.line.entries})


def _runs(code: CodeObjectRow, counted: dict[str, int | None]) -> Iterator[str]:
    for entry in code.cache_line:
        other = counted.get(entry.compile_id)
        if None not in (entry.runs, other) and entry.runs != other:
            yield f"entry {entry.compile_id} of {code.name} ran {entry.runs} or {other} times"


def _strips(ledger: Ledger) -> Iterator[str]:
    """One arm's letters are those that the regions were counted by."""
    whole = [arm for arm in ledger.arms if len(arm.calls) == arm.calls_total > 0]
    strips = [_letters(arm) for arm in whole if all(call.disposition for call in arm.calls)]
    told = {region.id: _told(region) for region in ledger.regions if _told(region)}
    if strips and told and told not in strips:
        yield "the counts of the regions are those of no arm's calls"


def _letters(arm: ArmRow) -> dict[int, Counter[str]]:
    found: dict[int, Counter[str]] = {}
    for call in arm.calls:
        found.setdefault(call.region, Counter())[str(call.disposition)] += 1
    return found


def _told(region: RegionRow) -> Counter[str]:
    return Counter({name: number for name, number in region.dispositions.items() if number})


def _status(ledger: Ledger, name: str) -> str:
    level: Level = next(level for level in ledger.levels if level.level == name)
    return level.status
