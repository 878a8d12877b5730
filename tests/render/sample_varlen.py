"""The varying lengths of the chapter's opening failure, and the same program mended."""

from __future__ import annotations

from typing import Any

from compile_ledger.facts.agreement import Agreement
from compile_ledger.judge.document import (
    Cell,
    CodeObjectRow,
    Correctness,
    Cost,
    Diagnosis,
    Entry,
    Evidence,
    ExperimentRow,
    Finding,
    FindingCost,
    Interval,
    Ledger,
    Limit,
    Line,
    NextStep,
    NotMeasured,
    Reading,
)

from . import sample_lines
from . import samples as s

LENGTHS = (60, 63, 69, 16, 19, 75, 19, 55, 25, 35, 37, 66, 52)
STRIP = "CRRRRR.RRXEEE"
COSTS = {"C": 3.1, "R": 0.52, ".": 0.0016, "X": 0.11, "E": 0.0031}
CAUSE = "idx axis 1 took 12 distinct lengths in 13 calls and filled the 8 entries of the line"
REASON = "0/{}: tensor 'idx' size mismatch at index 1. expected {}, actual {}"


def _refusals(upto: int, actual: int) -> tuple[str, ...]:
    return tuple(REASON.format(k, LENGTHS[k], actual) for k in range(upto))


def _entries() -> tuple[Entry, ...]:
    made = []
    compiled = [index for index, char in enumerate(STRIP) if char in "CR"]
    for number, index in enumerate(compiled):
        why = f"idx axis 1: expected {LENGTHS[0]}, actual {LENGTHS[index]}" if number else ""
        runs = 2 if LENGTHS[index] == LENGTHS[6] else 1
        made.append(Entry(f"0/{number}" if number else "0/0", runs, 61, 34, 0.52, why))
    return tuple(made)


def _findings() -> tuple[Finding, ...]:
    limit = Evidence("recompile reasons", "\n".join(_refusals(8, 35)), 8, "capture")
    shape = Evidence("recompile reasons", REASON.format(0, 60, 63), 7, "capture")
    silent = Evidence("lookups - hits - misses", "3 lookups matched no entry", 3, "capture")
    common: dict[str, Any] = {
        "subject": "idx",
        "axis": 1,
        "site": s.SERVICE,
        "region": 0,
        "code_object": 0,
    }
    return (
        Finding(
            "cache-limit-0", "cache-limit", "STABLE", "failure",
            "recompile_limit (8) was hit on forward at call 9",
            expected="60", actual="35", cost=FindingCost(0.11, 1), evidence=(limit,), **common,
        ),
        Finding(
            "recompile-shape-0", "recompile-shape", "STABLE", "failure",
            "idx axis 1: 12 distinct lengths, 7 recompiles in 13 calls",
            expected="60", actual="63", count=7, cost=FindingCost(3.64, 0),
            evidence=(shape,), **common,
        ),
        Finding(
            "silent-eager-0", "silent-eager", "STABLE", "failure",
            "calls 10 to 12 ran eagerly after the limit, without a message",
            count=3, cost=FindingCost(None, 3), evidence=(silent,), **common,
        ),
    )  # fmt: skip


def _lines() -> tuple[Line, ...]:
    why = "the audit stops at the first failing level, STABLE"
    return (
        Line("region", (
            Cell("target", "Transformer.forward, 13 calls", "region hook"),
            Cell("compiled at", "examples/varlen_service.py:58, dynamic=False", "region hook"),
        )),
        Line("capture", (
            Cell("graphs per steady call", "1", "entry runs"),
            Cell("breaks", "0", "graph break records"),
            Cell("explain", None, "", "not asked: the instrument that decides needs no help"),
        )),
        Line("assumptions", (
            Cell("idx", "int64, size [1, 60], static", "guards of 0/0"),
        )),
        Line("stability", (
            Cell("compiles", "8 entries, 7 recompiles", "compile records"),
            Cell("limit", "recompile_limit = 8, hit at call 9", "compile records"),
            Cell("silent eager calls", "3 of 13", "guard lookups"),
        )),
        Line("cost", (
            Cell("compiling", "6.85 s CPU in 9 calls, backend eager", "process CPU time"),
            Cell("cold", None, "", why),
            Cell("warm", None, "", why),
            Cell("steady state", None, "", why),
        )),
        Line("correctness", (
            Cell("max |difference|", "7.2e-07 over 8 calls", "outputs against eager"),
            Cell("fp64 ratio", "1.04x eager's own error", "fp64 reference"),
        )),
        Line("verdict", (Cell("verdict", "STABLE fails: recompiles on a tensor size", "judge"),)),
    )  # fmt: skip


def _experiment() -> ExperimentRow:
    return ExperimentRow(
        name="default-policy",
        change="torch.compile without dynamic=False",
        tests="idx axis 1 is specialised because dynamic=False forbids a symbolic size",
        before=Reading("capture", 8, 7, 1, 3, 0, settled=False, graph_runs=9, entries=8,
                       cpu_seconds=6.85),
        after=Reading("default-policy", 2, 1, 0, 0, 0, settled=True, graph_runs=13, entries=2,
                      cpu_seconds=3.9),
        outcome="holds",
        sentence="diagnosis holds: 8 compiles became 2, no call refused, settled after call 1",
    )  # fmt: skip


def _correctness() -> Correctness:
    leaf = Agreement(0, 5, "out[0]", "within", "", "float32", (1, 75, 512), 7.2e-07, stated=True,
                     error_compiled=2.6e-07, error_eager=2.5e-07, reference="fp64")  # fmt: skip
    return Correctness(
        8, 13, 7.2e-07, stated_pass=True, worst_error_compiled=2.6e-07, worst_error_eager=2.5e-07,
        worst_ratio=1.04, deterministic=True, arm="correct", worst=(leaf,),
    )  # fmt: skip


def varlen() -> Ledger:
    """STABLE fails: the recompile limit is hit at call 9; WORTH IT is not measured."""
    found = _findings()
    worth = "the audit stops at the first failing level"
    return s.ledger(
        diagnosis=Diagnosis("STABLE", "cache-limit", CAUSE, "idx", 1, "60", "63", s.SERVICE,
                            "cache-limit-0"),
        levels=s.levels(
            ("holds", "13 calls ran in eager and in compiled arms, none raised"),
            ("holds", "max |difference| 7.2e-07 over 8 calls, 1.04x eager's own fp64 error"),
            ("holds", "1 graph executed per call that was served, no frame skipped"),
            ("fails", CAUSE),
            ("not_measured", worth),
            findings={f.id: f.level for f in found},
        ),
        regions=(s.region(STRIP, dynamic="False"),),
        code_objects=(
            CodeObjectRow(0, "forward", s.SERVICE.file, 31, 8, 8, 8, 9, _refusals(1, 63),
                          Limit("recompile_limit", 9, 8), None, _entries()),
            CodeObjectRow(1, "helper", s.SERVICE.file, 90, 9, 9, 9),
        ),
        cache_lines=(sample_lines.served(LENGTHS[:8]), sample_lines.odd()),
        findings=found,
        experiments=(_experiment(),),
        arms=(
            s.arm("eager", s.eager_calls(13, 0.0031), cpu=2.1),
            s.arm("eager_again", s.eager_calls(13, 0.003), cpu=2.1),
            s.arm("capture", s.calls(STRIP, COSTS), "backend='eager'", 9.0),
            s.arm("default-policy", s.calls("CR" + "." * 11, COSTS), "without dynamic=False", 6.0),
        ),
        cost=Cost(compile_seconds=6.85, compile_arm="capture", why=worth),
        correctness=_correctness(),
        not_measured=(
            NotMeasured("steady state, cold and warm cost", worth, s.FULL),
            NotMeasured("explain and fullgraph", "not asked for", ""),
        ),
        lines=_lines(),
        verdict="STABLE fails: recompiles on idx axis 1 fill the cache line",
        next_step=NextStep("leave dynamic=False out of torch.compile", s.SERVICE,
                           "tested: 2 compiles instead of 8"),
    )  # fmt: skip


def clean() -> Ledger:
    """Nothing fails: one recompile, settled, and the graph repays its cost."""
    note = Finding(
        "settled-0", "settled", "STABLE", "note", "settled after 1 recompile on idx axis 1",
        site=s.SERVICE, subject="idx", axis=1, cost=FindingCost(0.6, 0),
    )  # fmt: skip
    return s.ledger(
        target="examples/varlen_service.py:default_policy",
        levels=s.levels(
            ("holds", "13 calls, none raised"),
            ("holds", "max |difference| 6.0e-07 over 8 calls"),
            ("holds", "1 graph executed per call, no frame skipped"),
            ("holds", "settled after 1 recompile"),
            ("holds", "repays its cold cost after 4,100 of 50,000 calls"),
            findings={"settled-0": "STABLE"},
        ),
        regions=(s.region("CR" + "." * 11),),
        code_objects=(CodeObjectRow(0, "forward", s.SERVICE.file, 31, 2, 2, 2, 13),),
        findings=(note,),
        arms=(
            s.arm("eager", s.eager_calls(13, 0.0031), cpu=2.1),
            s.arm("cold", s.calls("CR" + "." * 11, COSTS), cpu=9.1),
        ),
        cost=Cost(
            eager_call=Interval(3.1e6, 3.05e6, 3.16e6, 400),
            compiled_call=Interval(1.6e6, 1.57e6, 1.62e6, 400),
            saving_per_call=Interval(1.5e6, 1.43e6, 1.58e6, 400),
            ratio=Interval(0.52, 0.50, 0.53, 400),
            noise=Interval(1.0, 0.99, 1.01, 400),
            cold_seconds=6.15, warm_seconds=1.2, cold_process_seconds=2.4,
            warm_process_seconds=0.9, cold_break_even=4100, warm_break_even=800,
            horizon=50_000, horizon_source="--horizon", compile_seconds=3.62, compile_arm="cold",
        ),
        verdict="No level fails",
    )  # fmt: skip
