"""Ledgers that fail elsewhere, or that have little to say."""

from __future__ import annotations

from compile_ledger.facts.place import Place, Raised
from compile_ledger.judge.document import (
    ArmRow,
    BreakCost,
    BreakRow,
    Cell,
    CodeObjectRow,
    Cost,
    Diagnosis,
    Entry,
    Evidence,
    Finding,
    FindingCost,
    Interval,
    Ledger,
    Line,
    NotMeasured,
    Off,
    Unproven,
)

from . import samples as s

BUG = Place("/srv/app/serving/model.py", 27, "forward")
PRINT = Place("/srv/app/serving/blocks/a/long/way/down/the/tree/of/packages/norm.py", 112, "f")
INTERRUPTED = "interrupted before this arm ran"


def eager_raises() -> Ledger:
    """RUNS fails: eager itself raises, so the compiler is a distraction."""
    raised = Raised(
        "RuntimeError",
        "mat1 and mat2 shapes cannot be multiplied (4x64 and 128x128)\nin block 2",
        BUG,
        (Place("/srv/app/serving/main.py", 9, "<module>"), BUG),
    )
    sentence = "an ordinary bug: eager raises too, RuntimeError at call 0"
    finding = Finding(
        "eager-raises-0", "eager-raises", "RUNS", "failure", sentence, site=BUG,
        evidence=(Evidence("traceback", f"{raised.type}: {raised.message}", 1, "eager"),),
    )  # fmt: skip
    return s.ledger(
        diagnosis=Diagnosis("RUNS", "eager-raises", sentence, site=BUG, finding=finding.id),
        levels=s.levels(
            ("fails", sentence),
            *s.unmeasured("eager raises: nothing to compare with", 4),
            findings={finding.id: "RUNS"},
        ),
        findings=(finding,),
        arms=(ArmRow("eager", "", "raised", "RuntimeError at call 0", 2.2, 1.9),),
        raised=raised,
        verdict="RUNS fails: an ordinary bug, eager raises too",
    )  # fmt: skip


def interrupted() -> Ledger:
    """Nothing was measured: Ctrl-C came before the first arm ended."""
    return s.ledger(
        levels=s.levels(*s.unmeasured(INTERRUPTED, 5)),
        unproven=Unproven("RUNS", INTERRUPTED, "compile-ledger audit examples/varlen_service.py"),
        lines=tuple(
            Line(name, (Cell(name, None, "", INTERRUPTED),))
            for name in ("region", "capture", "assumptions", "stability", "cost", "correctness")
        ),
        arms=(ArmRow("eager", "", "interrupted", "Ctrl-C", None, None),),
        not_measured=(NotMeasured("every level", INTERRUPTED, s.FULL),),
        interrupted=True,
        verdict="Not measured: interrupted",
    )


def _unpaid_cost() -> Cost:
    return Cost(
        eager_call=Interval(14_200.0, 14_050.0, 14_390.0, 2_000),
        compiled_call=Interval(13_900.0, 13_800.0, 14_010.0, 2_000),
        saving_per_call=Interval(300.0, 120.0, 480.0, 2_000),
        ratio=Interval(0.979, 0.966, 0.992, 2_000),
        noise=Interval(1.001, 0.996, 1.006, 2_000),
        wall_ratio=Interval(0.981, 0.960, 1.004, 2_000),
        compile_seconds=2.31,
        compile_arm="cold",
        cold_seconds=9.42,
        warm_seconds=3.05,
        cold_process_seconds=6.9,
        warm_process_seconds=2.6,
        cold_break_even=31_400_000.0,
        warm_break_even=10_200_000.0,
        horizon=2_000,
        horizon_source="the stream's own length",
    )


def not_worth_it() -> Ledger:
    """WORTH IT fails: 300 ns saved a call cannot repay 9 seconds in 2,000 calls."""
    sentence = "saves 300 ns a call: 31,400,000 calls repay a cold start, the horizon is 2,000"
    letters = "C" + "." * 1_999
    finding = Finding(
        "not-worth-it-0", "not-worth-it", "WORTH_IT", "failure", sentence, site=s.SERVICE,
        cost=FindingCost(9.42, 0),
    )  # fmt: skip
    return s.ledger(
        diagnosis=Diagnosis("WORTH_IT", "not-worth-it", sentence, site=s.SERVICE,
                            finding=finding.id),
        levels=s.levels(
            ("holds", "2,000 calls, none raised"), ("holds", "equal bit for bit over 8 calls"),
            ("holds", "1 graph executed per call"), ("holds", "no recompile in 2,000 calls"),
            ("fails", sentence), findings={finding.id: "WORTH_IT"},
        ),
        regions=(s.region(letters, ()),),
        code_objects=(CodeObjectRow(0, "forward", s.SERVICE.file, 31, 1, 1, 1, 2_000),),
        findings=(finding,),
        arms=(
            s.arm("eager", s.eager_calls(2_000, 14.2e-6)),
            s.arm("cold", s.calls(letters, {"C": 2.31, ".": 13.9e-6}), cpu=12.0),
            s.arm("warm", s.calls(letters, {"C": 0.41, ".": 13.9e-6}), cpu=5.0),
        ),
        cost=_unpaid_cost(),
        verdict=f"WORTH IT fails: {sentence}",
    )  # fmt: skip


def breaks() -> Ledger:
    """CAPTURED fails: a print splits the forward into two graphs; one frame is skipped."""
    sentence = "2 graphs run per steady call: print(x.mean().item()) at norm.py:112"
    found = (
        Finding("graph-break-0", "graph-break", "CAPTURED", "failure", sentence, site=PRINT,
                count=1, cost=FindingCost(None, 8, "not measured: no arm without the break"),
                evidence=(Evidence("graph break record", "Unsupported: Tensor.item", 1, "cold"),)),
        Finding("frame-skipped-0", "frame-skipped", "CAPTURED", "failure",
                "collect is skipped at call 0: generator", site=BUG, cost=FindingCost(None, 9)),
        Finding("lost-evidence-0", "lost-evidence", "RUNS", "note",
                "1 compile record could not be read"),
    )  # fmt: skip
    return s.ledger(
        target="serving/main.py",
        diagnosis=Diagnosis("CAPTURED", "graph-break", sentence, site=PRINT,
                            finding="graph-break-0"),
        levels=s.levels(
            ("holds", "9 calls, none raised"), ("not_measured", "no compiled arm was run"),
            ("fails", sentence), ("holds", "no recompile in 9 calls"),
            ("not_measured", "the audit stops at the first failing level"),
            findings={f.id: f.level for f in found},
        ),
        unproven=Unproven("CORRECT", "--quick runs no compiled arm",
                          "compile-ledger audit serving/main.py"),
        regions=(s.region("CO......s", (0, 1)),),
        code_objects=(
            CodeObjectRow(0, "forward", PRINT.file, 96, 2, 1, 1, 9, cache_line=(
                Entry("0/0", 9, 12, 18, 0.3),)),
            CodeObjectRow(1, "collect", BUG.file, 14, 1, 0, 0, 0, off=Off(0, "generator")),
        ),
        breaks=(
            BreakRow(PRINT.file, PRINT.line, "Unsupported: Tensor.item", "GB0087", 1.0,
                     BreakCost(21_000.0, 15_500.0, 26_900.0, ""), "forward", 2),
            BreakRow(BUG.file, BUG.line, "Data-dependent branch | on `x.sum() > 0`", "", None),
        ),
        findings=found,
        arms=(s.arm("capture", s.calls("CO......s", {"C": 1.1, "O": 0.2, ".": 1e-3, "s": 2e-3})),),
        verdict=f"CAPTURED fails: {sentence}",
    )  # fmt: skip
