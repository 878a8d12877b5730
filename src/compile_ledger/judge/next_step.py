"""What to try next, in one line: the setting that a test has shown to help, or the edit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from compile_ledger.facts.place import Place

from .document import (
    BreakRow,
    Diagnosis,
    ExperimentRow,
    Finding,
    NextStep,
    Reading,
)
from .edits import edit_for
from .patterns import pattern_edit
from .verdict import leading_finding
from .view import View
from .words import count

_NO_REPAIR = ("raise-limit", "without-code-generator")
"""Experiments that test a mechanism and repair nothing: values keep coming."""
_OF_THE_PROCESS = ("torch._dynamo.config", "TORCH")
"""What a change begins with that is made once, before the first call, at no certain line."""
_LONGEST = 70
"""Letters of a change that did not help."""
_IN_WORDS = {
    "default-policy": "leave dynamic=False out of torch.compile",
    "allow-breaks": "leave fullgraph=True out of torch.compile",
}


def next_step(
    diagnosis: Diagnosis | None,
    findings: Sequence[Finding],
    experiments: Sequence[ExperimentRow],
    breaks: Sequence[BreakRow],
    view: View | None,
) -> NextStep | None:
    """The step for the failing level; None where no level fails or nothing is known to help."""
    leading = leading_finding(diagnosis, findings)
    if diagnosis is None or leading is None:
        return None
    rows = [row for row in experiments if row.level == diagnosis.level]
    shown = next((row for row in rows if row.outcome == "holds" and _repairs(row)), None)
    if shown is not None:
        do = _IN_WORDS.get(shown.name, shown.change)
        return NextStep(do, _set_at(shown, leading, view), f"tested: {_difference(shown)}")
    edit = pattern_edit(view, leading) or _break_edit(leading, breaks) or edit_for(leading)
    if not edit:
        return None
    where = leading.guarded or diagnosis.site
    return NextStep(edit, where, "; ".join(_untested(rows)))


def _set_at(row: ExperimentRow, finding: Finding, view: View | None) -> Place | None:
    """The line that a tested change edits: the region's; None for a setting of the process."""
    if row.change.startswith(_OF_THE_PROCESS):
        return None
    known = view.regions if view is not None else {}
    region = known.get(finding.region if finding.region is not None else -1)
    return region.site if region is not None else finding.site


def _repairs(row: ExperimentRow) -> bool:
    return row.name not in _NO_REPAIR


def _untested(rows: Sequence[ExperimentRow]) -> Iterator[str]:
    yield "not tested: needs an edit"
    refuted = [_short(row.change) for row in rows if row.outcome != "holds"]
    if refuted:
        yield f"tested and not enough: {', '.join(refuted)}"


def _short(change: str) -> str:
    """A change that names many functions stands whole in the table of experiments."""
    return change if len(change) <= _LONGEST else f"{change[: _LONGEST - 3]}..."


def _break_edit(finding: Finding, breaks: Sequence[BreakRow]) -> str:
    """The edit for the break that a finding of CAPTURED names."""
    if finding.level != "CAPTURED" or not breaks or finding.site is None:
        return ""
    place = finding.library or finding.site
    at = (place.file, place.line)
    return next((row.edit for row in breaks if (row.file, row.line) == at), breaks[0].edit)


def _difference(row: ExperimentRow) -> str:
    """``2 compiles instead of 8``; what else a test of its level looks at."""
    before, after = row.before, row.after
    if row.level == "STABLE" and before is not None and after is not None:
        return f"{count(after.compiles, 'compile')} instead of {_tried(before)}"
    if row.level == "CAPTURED" and before is not None and after is not None:
        return f"{_graphs(after)} per call instead of {_graphs(before).partition(' ')[0]}"
    return {"RUNS": "nothing raises", "CORRECT": "what differed agrees"}.get(row.level, "it helps")


def _tried(before: Reading) -> str:
    eager = before.refused + before.fell_back
    return f"{before.compiles:,}" + (f", and no call eager instead of {eager:,}" if eager else "")


def _graphs(found: Reading) -> str:
    low, high = found.graphs_low or 0, found.graphs_high or 0
    text = f"{low:g}" if low == high else f"{low:g} to {high:g}"
    return f"{text} {'graph' if text == '1' else 'graphs'}"
