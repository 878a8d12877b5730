"""Level 3: graph executions per served call, and frames skipped."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from compile_ledger.facts.arm import Arm
from compile_ledger.facts.calls import Counters, EntryRuns, RegionCalls
from compile_ledger.facts.compile import MissOutcome
from compile_ledger.facts.environment import Capability
from compile_ledger.facts.graph_break import GraphBreak
from compile_ledger.facts.place import Place
from compile_ledger.judge.captured.break_rows import break_rows
from compile_ledger.judge.captured.break_words import worded
from compile_ledger.judge.captured.level import judge_captured
from compile_ledger.judge.judged import Judged
from compile_ledger.judge.view import look

from . import make

PRINT = GraphBreak("print is not traced", (Place("serve.py", 3), Place("model.py", 12)), "GB0059")

NO_OPS = GraphBreak(
    "Dynamo decided to skip the frame while tracing: No ops traced for the FX graph.",
    (Place("serve.py", 9),),
)


def judged(arm: Arm) -> Judged:
    return judge_captured(make.arms(arm), make.INDUCTOR)


def broken(graphs: int = 2, **fields: Any) -> Arm:
    """An arm whose reused calls run several graphs, because of a print."""
    first = make.compile_at(0, breaks=(PRINT,), compile_id="0/0")
    resumed = make.compile_at(0, code_object=1, compile_id="1/0", started_ns=150)
    first_runs = make.calls("c", graphs=graphs, runs={"0:0/0": 5})
    later = make.calls("c....", graphs=graphs, runs={"0:0/0": 1, "1:1/0": graphs - 1})[1:]
    calls = (*first_runs, *later)
    codes = (make.code(), make.code(1, "resume", resume_of="encode"))
    base = {"compiles": (first, resumed), "calls": calls, "code_objects": codes}
    return make.healthy(**{**base, **fields})


def skipped(code: int = 0, outcome: MissOutcome = "switched_off", **fields: Any) -> Any:
    """A frame that Dynamo gave up in call 0."""
    given = {"code_object": code, "breaks": (PRINT,), "why": "break in a loop", "compile_id": "0/0"}
    return make.compile_at(0, outcome, **{**given, **fields})


def test_one_graph_per_steady_call_holds() -> None:
    found = judged(make.healthy())
    assert found.level.status == "holds"
    assert "1 graph per steady call, no frame skipped (12 calls" in found.level.why


def test_the_chapter_holds_though_calls_fell_back() -> None:
    assert judged(make.chapter()).level.status == "holds"


def test_served_calls_decide_where_none_was_reused() -> None:
    arm = make.healthy(calls=make.calls("crrx"))
    assert "1 graph per served call" in judged(arm).level.why


def test_more_than_one_graph_fails_with_reason_line_and_unmeasured_cost() -> None:
    found = judged(broken())
    (finding,) = found.findings
    assert finding.slug == "graph-break"
    assert "2 graphs run per steady call of encode: print is not traced at model.py:12" in (
        finding.sentence
    )
    assert "its cost was not measured" in finding.sentence
    assert finding.site == Place("model.py", 12)
    assert "[GB0059]" in finding.evidence[0].text


def test_graphs_of_the_first_call_do_not_count_when_calls_are_reused() -> None:
    calls = (*make.calls("c", graphs=3), *make.calls("c....")[1:])
    assert judged(make.healthy(calls=calls)).level.status == "holds"


def test_several_graphs_in_some_calls_only_fail_and_say_how_many() -> None:
    plain = make.calls("c....")
    calls = (*plain[:3], *(dataclasses.replace(c, graphs=2) for c in plain[3:]))
    found = judged(make.healthy(calls=calls))
    assert found.fails
    assert "1 to 2 graphs run per steady call of encode in 2 of 4 calls" in found.level.why


def test_breaks_say_how_often_they_run_per_call() -> None:
    (row,) = break_rows(look(broken(graphs=3)))
    assert (row.file, row.line, row.hint_id) == ("model.py", 12, "GB0059")
    assert row.per_call == 1.0
    assert row.seen == 1


def test_no_graph_names_why_and_line() -> None:
    arm = make.healthy(calls=make.calls("ooo"), compiles=(skipped(),))
    (finding,) = judged(arm).findings
    assert finding.slug == "no-graph"
    assert "no graph ran in any of 3 calls of encode: break in a loop at model.py:12" in (
        finding.sentence
    )
    assert finding.cost.calls == 3
    assert finding.site == Place("model.py", 12)


def test_trivial_first_call_has_no_graph_and_says_so() -> None:
    event = make.compile_at(0, "switched_off", graph_ops=0)
    arm = make.healthy(calls=make.calls("ooo"), compiles=(event,))
    assert "no tensor operation" in judged(arm).level.why


def test_region_that_dynamo_never_reached_has_no_graph() -> None:
    arm = make.healthy(calls=make.calls("sss"), compiles=())
    found = judged(arm)
    assert found.findings[0].slug == "no-graph"
    assert "Dynamo never reached a frame" in found.level.why
    assert found.findings[0].site == make.SITE


def test_frame_skipped_beside_graphs_fails_before_the_break() -> None:
    inner = make.compile_at(0, code_object=1, compile_id="1/0")
    codes = (make.code(), make.code(1, "block"))
    arm = broken(4, compiles=(skipped(), inner), code_objects=codes)
    found = judged(arm)
    assert [f.slug for f in found.findings] == ["frame-skipped", "graph-break"]
    assert "Dynamo skipped encode" in found.level.why


def test_library_frame_skipped_is_no_failure() -> None:
    codes = (make.code(), make.code(1, "zero_grad", library=True))
    arm = make.healthy(compiles=(make.compile_at(0), skipped(1)), code_objects=codes)
    assert judged(arm).level.status == "holds"


def test_library_frame_that_is_the_region_itself_counts() -> None:
    arm = make.healthy(
        code_objects=(make.code(0, "inner", library=True),),
        compiles=(skipped(),),
        calls=make.calls("ooo"),
    )
    assert judged(arm).findings[0].slug == "no-graph"


@pytest.mark.parametrize(
    "fields",
    [
        {"breaks": (), "why": "the frame has no tensor operation to compile"},
        {"breaks": (NO_OPS,), "why": NO_OPS.reason},
        {"why": "frame is in the Dynamo skipfiles list"},
        {"breaks": (), "why": "", "graph_ops": 0},
        {"why": "marked with torch.compiler.disable"},
    ],
)
def test_frame_in_which_nothing_is_lost_is_no_failure(fields: dict[str, Any]) -> None:
    codes = (make.code(), make.code(1, "helper"))
    arm = make.healthy(compiles=(make.compile_at(0), skipped(1, **fields)), code_objects=codes)
    assert judged(arm).level.status == "holds"


def test_code_object_off_after_having_entries_is_not_captureds_business() -> None:
    later = make.compile_at(2, "switched_off", entries_before=1, breaks=(PRINT,), why="break")
    arm = make.healthy(calls=make.calls("c.ooo"), compiles=(make.compile_at(0), later))
    assert judged(arm).level.status == "holds"


def test_uncounted_entries_are_not_measured_with_the_reason() -> None:
    absent = Capability("entry-runs", present=False, why="torch 2.4 has no bytecode hook")
    arm = make.healthy(calls=make.calls("c...", graphs=None), capabilities=(absent,))
    found = judged(arm)
    assert found.level.status == "not_measured"
    assert "torch 2.4 has no bytecode hook" in found.level.why


def test_region_made_but_never_called_is_not_measured() -> None:
    event = dataclasses.replace(make.compile_at(0), region=None, call=None)
    arm = make.healthy(calls=(), compiles=(event,))
    found = judged(arm)
    assert found.level.status == "not_measured"
    assert "never called" in found.level.why


def test_region_never_called_beside_one_that_was_does_not_count() -> None:
    arm = make.healthy(regions=(make.region(), make.region(1, "spare", root=None)))
    assert judged(arm).level.status == "holds"


def test_region_inside_another_is_judged_too() -> None:
    inner = make.calls("c...", 1, start_ns=5)
    arm = make.healthy(
        number=4,
        regions=(make.region(), make.region(1, "inner", root=1)),
        code_objects=(make.code(), make.code(1, "inner")),
        calls=(*make.calls("c..."), *(dataclasses.replace(c, graphs=2) for c in inner)),
    )
    (finding,) = judged(arm).findings
    assert (finding.slug, finding.region) == ("graph-break", 1)


def test_calls_that_all_raised_tell_nothing() -> None:
    arm = make.healthy(calls=make.calls("!!"), compiles=())
    found = judged(arm)
    assert found.level.status == "not_measured"
    assert found.level.why == "every call of encode raised: RUNS has the exception"
    assert not found.command, "no other audit could count graphs of calls that raise"


def counted(runs: int, resumed: int = 0, calls: int = 10) -> Arm:
    """A recording with totals only: runs of the first frame, and of one that it resumes in."""
    counters = Counters(
        at_ns=10_000,
        regions=(RegionCalls(0, calls),),
        entries=(EntryRuns(0, "0/0", runs), EntryRuns(1, "1/0", resumed)),
    )
    compiles = (make.compile_at(0), make.compile_at(0, code_object=1, compile_id="1/0"))
    return make.healthy("recorded", calls=(), counters=counters, compiles=compiles)


@pytest.mark.parametrize(
    ("runs", "resumed", "status"),
    [(10, 0, "holds"), (10, 10, "fails"), (4, 0, "holds"), (20, 0, "not_measured")],
)
def test_totals_of_a_recording_decide_too(runs: int, resumed: int, status: str) -> None:
    assert judged(counted(runs, resumed)).level.status == status


def test_no_arm_is_not_measured() -> None:
    found = judge_captured({}, make.INDUCTOR)
    assert found.level.status == "not_measured"
    assert found.command


def test_one_region_uncounted_leaves_the_level_unmeasured() -> None:
    arm = make.healthy(
        regions=(make.region(), make.region(1, "other", root=1)),
        calls=(*make.calls("c..."), *make.calls("c...", 1, graphs=None)),
    )
    assert judged(arm).level.status == "not_measured"


def test_frame_skipped_once_and_compiled_later_is_no_failure() -> None:
    later = make.compile_at(1)
    arm = make.healthy(calls=make.calls("sc..."), compiles=(skipped(outcome="skipped"), later))
    assert judged(arm).level.status == "holds"


def test_library_frame_that_is_a_root_and_skipped_fails_beside_its_callees_graphs() -> None:
    codes = (make.code(0, "inner", library=True), make.code(1, "block"))
    inner = make.compile_at(0, code_object=1, compile_id="1/0")
    found = judged(make.healthy(code_objects=codes, compiles=(skipped(), inner)))
    assert [f.slug for f in found.findings] == ["frame-skipped"]


def test_a_reason_that_is_a_name_of_the_runtimes_code_is_worded() -> None:
    assert worded("generic_jump TensorVariable()\nmore") == (
        "Data-dependent branching (generic_jump)"
    )
    assert worded("Unsupported Tensor.item() call") == "Unsupported Tensor.item() call"


def test_the_break_that_is_named_is_the_first_behind_a_graph() -> None:
    before = GraphBreak("skipped function", (Place("serve.py", 18),))
    behind = GraphBreak("Tensor.backward()", (Place("serve.py", 20),))
    last = GraphBreak("skipped function", (Place("serve.py", 21),))
    compiles = (
        make.compile_at(0, breaks=(before,), graph_ops=0),
        make.compile_at(0, breaks=(behind,), code_object=1, compile_id="1/0", started_ns=150),
        make.compile_at(0, breaks=(last,), code_object=2, graph_ops=0, started_ns=160),
    )
    finding = judged(broken(compiles=compiles)).findings[0]
    assert "Tensor.backward() at serve.py:20 (and at lines 18, 21)" in finding.sentence
    assert finding.site == Place("serve.py", 20)


def test_an_exception_that_left_the_frame_is_no_break() -> None:
    event = make.compile_at(0, "raised", breaks=(PRINT,))
    assert break_rows(look(make.healthy(compiles=(event,)))) == ()


def tail(call: int, **fields: Any) -> Any:
    event = make.compile_at(call, code_object=1, compile_id=f"1/{call}", **fields)
    return dataclasses.replace(event, outcome="switched_off") if call else event


def with_tail_off(**fields: Any) -> Arm:
    """One graph, a break, and a resume function that a later call switched off."""
    broken = make.compile_at(0, breaks=(PRINT,))
    return make.healthy(
        number=5,
        code_objects=(make.code(), make.code(1, "resume", resume_of="encode")),
        compiles=(broken, tail(0), tail(1, **fields)),
    )


def test_what_follows_a_break_and_is_switched_off_is_not_captured() -> None:
    (finding,) = judged(with_tail_off(why="it broke where it cannot resume")).findings
    assert (finding.slug, finding.severity) == ("graph-break", "failure")
    assert "what follows the break runs eagerly from call 1 on" in finding.sentence


def test_a_tail_without_operations_loses_nothing() -> None:
    assert judged(with_tail_off(why="No ops traced")).level.status == "holds"
