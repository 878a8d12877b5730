"""The lines of the chapter's ledger: every cell has a value, or says why it has none."""

from __future__ import annotations

from .captured.break_rows import break_rows
from .captured.bypass import outside_cell
from .captured.findings import lost_frames
from .captured.graphs import graphs_per_call
from .captured.operators import operator_cell
from .cells import absent, cell
from .choose import EAGER, Arms
from .document import Cell, Correctness, Cost, Finding, Interval, Level, Line
from .instruments import instrument
from .rows import region_rows
from .stable.causes import causes
from .stable.limit_ahead import budget_cell
from .stable.values import values_brought
from .view import View
from .words import count, listed, short_seconds
from .worth_it.guard_lookup import lookup_cell
from .worth_it.steady import resolved


def region_line(view: View | None) -> Line:
    """What was compiled, where, how often it was called."""
    names = ("target", "site", "calls")
    if view is None or not view.regions:
        return _nothing("region", names, "no region was seen")
    rows = region_rows(view)
    tool = instrument("regions", view.arm)
    sites = [str(row.site) for row in rows if row.site]
    return Line(
        "region",
        (
            cell("target", listed(dict.fromkeys(row.target for row in rows), 4), tool),
            cell("site", listed(dict.fromkeys(sites), 4) or None, tool, "the site was not seen"),
            cell("calls", str(sum(row.calls for row in rows)), tool),
        ),
    )


def capture_line(view: View | None, level: Level, arms: Arms) -> Line:
    """Graphs per call, operators in them, frames skipped, breaks, calls that go round."""
    if view is None:
        names = ("graphs per call", "operators", "frames skipped", "breaks", "outside")
        return _nothing("capture", names, level.why)
    called = [region for region in view.regions if view.length(region)]
    readings = [found for region in called if (found := graphs_per_call(view, region))]
    text = listed(dict.fromkeys(found.text for found in readings), 4) or None
    unserved = level.why if called else "no region was called"
    operators, unseen = operator_cell(view, tuple(called))
    outside, uncounted = outside_cell(arms, view)
    skipped = lost_frames(view)
    breaks = break_rows(view)
    return Line(
        "capture",
        (
            cell("graphs per call", text, instrument("entry runs", view.arm), unserved),
            cell("operators", operators, instrument("operators", view.arm, "profiler"), unseen),
            cell("frames skipped", str(len(skipped)), instrument("compile records", view.arm)),
            cell("breaks", str(len(breaks)), instrument("graph breaks", view.arm)),
            cell("outside", outside, instrument("calls", arms.get(EAGER), EAGER), uncounted),
        ),
    )


def assumption_line(view: View | None) -> Line:
    """How many guards, what was made symbolic, which assumption failed."""
    names = ("guards", "dynamic", "failed")
    if view is None:
        return _nothing("assumptions", names, "no compiled arm saw a call")
    guards = [c.guards for c in view.compiles if c.kept and c.guards is not None]
    symbols = dict.fromkeys(f"{s.source}" for c in view.compiles for s in c.symbols)
    tool = instrument("compile records", view.arm)
    return Line(
        "assumptions",
        (
            cell("guards", str(max(guards)) if guards else None, tool, "not in these facts"),
            cell("dynamic", listed(symbols, 4) or "none", tool),
            cell("failed", _failed(view), instrument("recompile reasons", view.arm)),
        ),
    )


def _failed(view: View) -> str:
    """Each guard that made a recompile, with how many values it met."""
    silent = sum(call.disposition == "fell_back" for call in view.arm.calls)
    said = [
        f"{one.key.text}: {values_brought(view, one, view.region_of(one.events[0]), silent)}"
        for one in causes(c for c in view.compiles if c.reasons)
    ]
    return "; ".join(said[:4]) + ("; ..." if said[4:] else "") or "none"


def stability_line(view: View | None, level: Level) -> Line:
    """Compiles, recompiles, refusals, silent calls, and how compiling ended."""
    names = ("compiles", "recompiles", "refused", "budget", "fell back", "ends")
    if view is None:
        return _nothing("stability", names, level.why)
    tool = instrument("compile records", view.arm)
    outcomes = [c.outcome for c in view.compiles]
    kept = any(call.disposition for call in view.arm.calls)
    silent = sum(call.disposition == "fell_back" for call in view.arm.calls)
    counters = view.arm.counters
    if not kept and counters is not None and counters.silent is not None:
        kept, silent = True, counters.silent
    ends = {"holds": "settled", "fails": "not settled"}.get(level.status)
    return Line(
        "stability",
        (
            cell("compiles", str(sum(c.kept for c in view.compiles)), tool),
            cell("recompiles", str(outcomes.count("recompiled")), tool),
            cell("refused", str(outcomes.count("refused")), tool),
            budget_cell(view),
            cell(
                "fell back",
                str(silent) if kept else _at_least(view),
                instrument("lookups", view.arm),
                "silent calls could not be counted",
            ),
            cell("ends", ends, tool, level.why),
        ),
    )


def _at_least(view: View) -> str | None:
    """Silent runs past the limits that were hit; others are unseen."""
    counters = view.arm.counters
    found = [eager.silent for eager in counters.eager] if counters else []
    return f"at least {sum(found)}" if found else None


def cost_line(found: Cost) -> Line:
    """What graphs cost and save."""
    steady = "paired CPU time, interleaved (steady state)"
    calls = "CPU time of calls (recorder)"
    why = found.why or "not measured"
    return Line(
        "cost",
        (
            _seconds("compiling", found.compile_seconds, f"{calls}, {found.compile_arm} arm"),
            _interval("compiled/eager", found.ratio, steady, why),
            _interval("A/A", found.noise, steady, why),
            lookup_cell(found.guards),
            _seconds("cold start", found.cold_seconds, f"{calls}, cold arm"),
            _seconds("warm start", found.warm_seconds, f"{calls}, warm arm"),
            _calls("break-even cold", found.cold_break_even, found),
            _calls("break-even warm", found.warm_break_even, found),
        ),
    )


def _seconds(name: str, value: float | None, tool: str) -> Cell:
    text = short_seconds(value) if value is not None else None
    return cell(name, text, tool, "the arm was not run, or its calls were not timed")


def _interval(name: str, found: Interval, tool: str, why: str) -> Cell:
    if found.value is None or found.low is None or found.high is None:
        return absent(name, found.why or why)
    return cell(name, f"{found.value:.3f} [{found.low:.3f}, {found.high:.3f}]", tool)


def _calls(name: str, value: float | None, found: Cost) -> Cell:
    saving = found.saving_per_call
    if found.ratio.value is not None and resolved(found):
        return absent(name, "the saving is not resolved")
    text = f"{value:,.0f} calls" if value is not None else None
    if value is None and saving.high is not None and saving.high <= 0:
        text = "never: a compiled call saves nothing"
    return cell(name, text, "cost over saving", "the cost or the saving is not known")


def correctness_line(found: Correctness) -> Line:
    """What was compared and how far it is from eager and from fp64."""
    tool = f"agreement with eager ({found.arm} arm)" if found.arm else ""
    same = found.max_abs == 0 and all(leaf.status == "equal" for leaf in found.worst)
    why = found.why or ("outputs equal eager's bit for bit" if same else "no fp64 reference")
    worst = f"{found.max_abs:.2e}" if found.max_abs is not None else None
    ratio = f"{found.worst_ratio:.3g}" if found.worst_ratio is not None else None
    repeats = {True: "yes", False: "no"}.get(bool(found.deterministic))
    compared = f"{count(found.compared, 'output')} of {count(found.calls, 'call')}"
    known = found.deterministic is not None
    return Line(
        "correctness",
        (
            cell("compared", compared if found.compared else None, tool, found.why),
            cell("max |difference|", worst, tool, found.why or "no float was compared"),
            cell("error over eager's", ratio, f"fp64 reference ({found.arm} arm)", why),
            *_gradients(found, tool),
            cell(
                "eager repeats",
                repeats if known else None,
                "eager against eager (correctness)",
                "eager was not compared with itself",
            ),
        ),
    )


def _gradients(found: Correctness, tool: str) -> tuple[Cell, ...]:
    """Of a program that computed gradients: how many agreed, and how far off the worst is."""
    if not found.gradients:
        return ()
    worst = found.worst_error_gradient
    far = "" if worst is None else f", worst error {worst:.1e} against fp64"
    return (cell("gradients", f"{found.gradients} compared{far}", tool),)


def verdict_line(verdict: str, finding: Finding | None) -> Line:
    """The verdict, and where to look."""
    site = str(finding.site) if finding and finding.site else None
    return Line(
        "verdict",
        (
            cell("verdict", verdict, "judges"),
            cell("where", site, "judges", "no level failed" if not finding else "no site was seen"),
        ),
    )


def _nothing(name: str, cells: tuple[str, ...], why: str) -> Line:
    return Line(name, tuple(absent(each, why) for each in cells))
