"""Level 3: calls that go round a region, and operators outside its graphs."""

from __future__ import annotations

from typing import Any

import pytest

from compile_ledger.facts.arm import Arm, Lost
from compile_ledger.facts.calls import Counters, RegionCalls
from compile_ledger.facts.outside import Caller, EagerPlace, Operators, OwnCalls
from compile_ledger.facts.place import Place
from compile_ledger.judge.captured.bypass import judge_in_place, outside_cell
from compile_ledger.judge.captured.experiment import judge_break_experiment
from compile_ledger.judge.captured.level import judge_captured
from compile_ledger.judge.captured.operators import operator_cell
from compile_ledger.judge.choose import RECORDED
from compile_ledger.judge.judged import Judged
from compile_ledger.judge.view import look

from . import make

APP = Place("app.py", 22, "generate")
LIBRARY = Place("/x/site-packages/lib/generation.py", 9, "sample")
DISABLED = EagerPlace(Place("net.py", 13, "Features.forward"), operators=24, ns=90, disabled=True)


def judged(own: OwnCalls, capture: Arm | None = None) -> Judged:
    every = make.arms(capture or make.healthy(), make.eager(own_calls=(own,)))
    return judge_captured(every, make.INDUCTOR)


def uncalled(**fields: Any) -> Arm:
    """An arm that made region 0 and never called it."""
    counters = Counters(0, regions=(RegionCalls(0, 0),))
    return make.arm("capture", regions=(make.region(**fields),), counters=counters)


def own(inside: int, outside: int, share: float = 0.5, **fields: Any) -> OwnCalls:
    """Calls of region 0's own code; ``share`` of their time is outside."""
    spent = {"inside_ns": int(1000 * (1 - share)), "outside_ns": int(1000 * share)}
    callers = (Caller(APP, calls=outside),)
    return OwnCalls((0,), inside, outside, **{**spent, "callers": callers, **fields})


@pytest.mark.parametrize(
    ("inside", "outside", "share", "severity"),
    [
        (25, 75, 0.75, "failure"),
        (26, 74, 0.99, "note"),
        (1, 99, 0.74, "note"),
        (99, 1, 0.9, "note"),
        (0, 5, 1.0, "failure"),
    ],
)
def test_most_of_the_calls_and_of_their_time_fail(
    inside: int, outside: int, share: float, severity: str
) -> None:
    found = judged(own(inside, outside, share), None if inside else uncalled())
    assert (found.findings[0].slug, found.findings[0].severity) == ("region-bypassed", severity)
    assert found.level.status == ("fails" if severity == "failure" else "holds")


def test_calls_outside_are_told_with_their_share_and_their_line() -> None:
    found = judged(own(2, 48, 0.96, callers=(Caller(APP, LIBRARY, 40), Caller(make.SITE))))
    assert found.findings[0].sentence == (
        "48 of 50 calls of encode (96% of their eager time) ran outside torch.compile, without "
        "gradients, from generate, app.py:22 (sample, lib/generation.py:9) and 1 other line"
    )
    assert found.findings[0].count == 48
    assert len(found.findings[0].evidence) == 2


def test_calls_that_trained_are_not_said_to_be_without_gradients() -> None:
    assert "without gradients" not in judged(own(2, 48, trained=48)).findings[0].sentence


def test_what_was_never_called_fails_and_names_what_was() -> None:
    (finding,) = judged(own(0, 6, 0), uncalled(kind="module")).findings
    assert finding.severity == "failure"
    assert finding.sentence.startswith("6 of 6 forwards of encode ran outside torch.compile")
    assert finding.sentence.endswith("encode itself was called, never what torch.compile returned")


def test_another_object_that_was_called_instead_is_named() -> None:
    (finding,) = judged(own(0, 0, others=7), uncalled(target="Net")).findings
    assert finding.severity == "failure"
    assert finding.sentence == (
        "nothing called what torch.compile returned: 7 calls went to another Net, "
        "from generate, app.py:22"
    )


def test_another_object_beside_regions_that_are_called_is_nothing() -> None:
    assert judged(own(0, 0, others=7)).findings == ()


def test_code_that_the_regions_replaced_is_not_judged() -> None:
    """A transform compiled another function than the one whose calls were counted."""
    eager = make.eager(own_calls=(own(0, 5),))
    replaced = make.healthy(calls=make.calls("c...."))
    found = judge_captured(make.arms(replaced, eager), make.INDUCTOR)
    assert found.level.status == "holds"


@pytest.mark.parametrize("fields", [{"why": "its code is no Python function"}, {"outside": 0}])
def test_uncounted_calls_and_none_outside_say_nothing(fields: dict[str, Any]) -> None:
    assert judged(OwnCalls((0,), inside=5, **fields)).findings == ()


def test_the_cell_sums_calls_or_says_why_not() -> None:
    view = look(make.healthy())

    def cell(*counted: OwnCalls) -> tuple[str | None, str]:
        return outside_cell(make.arms(make.eager(own_calls=counted)), view)

    assert cell(own(10, 0, 0)) == ("0 of 10 calls", "")
    assert cell(own(1, 1), own(1, 1)) == ("2 of 4 calls (50% of their eager time)", "")
    assert cell(OwnCalls((0,), why="a C function")) == (None, "a C function")
    assert cell() == (None, "calls of what was compiled were not counted in the eager arm")
    none, why = outside_cell({}, view)
    assert none is None
    assert "a recording does not see calls outside regions" in why


@pytest.mark.parametrize(
    ("pattern", "status", "outcome", "said"),
    [
        ("c....", "finished", "holds", "diagnosis holds: with it, 5 calls went through"),
        ("", "finished", "not_resolved", "not enough: with it, 0 calls"),
        ("ooo", "finished", "not_resolved", "3 calls went through the region (before: 0), and no"),
        ("", "failed", "not_resolved", "not resolved: the experiment's arm failed: no memory"),
    ],
)
def test_compiling_in_place_holds_where_graphs_run(
    pattern: str, status: Any, outcome: str, said: str
) -> None:
    before = uncalled()
    after = make.healthy(
        "tried",
        calls=make.calls(pattern),
        compiles=(make.compile_at(0),) if pattern else (),
        status=status,
        why="no memory",
    )
    row = judge_in_place(before, after, "compile-in-place", "it", "region-bypassed:0", 0)
    assert row.outcome == outcome
    assert said in row.sentence


def sample(outside: int, share: float, **fields: Any) -> Operators:
    """A sampled call of 25 operators, with ``share`` of their time outside graphs."""
    spent = {"inside_ns": round(1000 * (1 - share)), "outside_ns": round(1000 * share)}
    return Operators(
        0, 3, 1, 25 - outside, outside, **{**spent, "places": (DISABLED,) * (outside > 0), **fields}
    )


def of(*samples: Operators, **fields: Any) -> Judged:
    return judge_captured(make.arms(make.healthy(operators=samples, **fields)), make.INDUCTOR)


@pytest.mark.parametrize(
    ("shares", "severity"),
    [
        ((0.05, 0.9), "failure"),
        ((0.049, 0.9), "note"),
        ((0.04, 0.04), "note"),
        ((0.9,), "note"),
    ],
)
def test_every_one_of_two_samples_has_to_show_a_share_that_matters(
    shares: tuple[float, ...], severity: str
) -> None:
    found = of(*(sample(24, share) for share in shares))
    assert [(f.slug, f.severity) for f in found.findings] == [("eager-operators", severity)]
    assert found.level.status == ("fails" if severity == "failure" else "holds")


def test_eager_operators_are_told_with_their_count_share_and_line() -> None:
    (finding,) = of(sample(24, 0.8), sample(24, 0.9)).findings
    assert finding.sentence == (
        "1 graph per steady call of encode holds 1 of 25 operators; 24 ran eagerly (80% to 90% of "
        "the operators' time), in Features.forward (disabled), net.py:13"
    )
    assert finding.site == Place("net.py", 13, "Features.forward")
    assert (finding.count, finding.subject) == (24, "encode")


def test_a_librarys_line_stands_beside_the_programs() -> None:
    led = EagerPlace(LIBRARY, program=APP, operators=24, ns=90)
    (finding,) = of(*[sample(24, 0.8, places=(led, DISABLED))] * 2).findings
    assert (finding.site, finding.library) == (APP, LIBRARY)
    assert finding.sentence.endswith(
        "in sample, lib/generation.py:9, called at app.py:22 and 1 other place"
    )


def test_one_sample_says_that_it_decides_nothing() -> None:
    (finding,) = of(sample(24, 0.9)).findings
    assert finding.sentence.endswith("one call was sampled, which decides nothing")


def test_samples_of_calls_that_ran_something_else_are_not_counted_with_the_last() -> None:
    (finding,) = of(sample(3, 0.01), sample(24, 0.9), sample(24, 0.8)).findings
    assert finding.severity == "failure"
    assert finding.evidence[0].count == 2


def test_calls_after_a_switch_off_are_a_matter_of_stable() -> None:
    samples = (sample(25, 1.0), sample(25, 1.0))
    served_first = of(*samples, calls=make.calls("c..oooooo"))
    assert [f.slug for f in served_first.findings if f.slug == "eager-operators"] == []
    alike = of(*samples, calls=make.calls("c........"))
    assert [f.slug for f in alike.findings] == ["eager-operators"]


def test_every_operator_in_graphs_holds_without_a_word() -> None:
    found = of(sample(0, 0), sample(0, 0))
    assert (found.level.status, found.findings) == ("holds", ())


def test_a_region_without_any_graph_has_its_own_finding() -> None:
    found = of(sample(25, 1), sample(25, 1), calls=make.calls("ooooo", graphs=0))
    assert "eager-operators" not in [f.slug for f in found.findings]


def test_the_cell_has_the_counts_or_why_there_are_none() -> None:
    def cell(arm: Arm, *regions: int) -> tuple[str | None, str]:
        return operator_cell(look(arm), regions or (0,))

    def told(name: str = "capture", **fields: Any) -> str:
        value, why = cell(make.healthy(name, **fields))
        assert value is None
        return why

    lost = Lost("OperatorSampler", "this torch has no _RecordFunctionFast")
    assert cell(make.healthy(operators=(sample(0, 0),))) == ("25 of 25 in graphs", "")
    assert told() == "no steady call was sampled in the capture arm"
    assert told(RECORDED) == "a recording counts no operators: compile-ledger audit does"
    assert told(lost=(lost,)) == "this torch has no _RecordFunctionFast"
    assert told(operators=(sample(0, 0, why="unseen"),)) == "unseen"
    two = make.healthy(
        regions=(make.region(), make.region(1, "other")), operators=(sample(24, 0.9),)
    )
    value, _ = cell(two, 0, 1)
    assert value is not None
    assert value.startswith("encode: 1 of 25 in graphs; 24 ran eagerly (90% of the operators'")
    assert value.endswith("; not measured in 1 region")


def test_an_experiment_does_not_hold_where_operators_still_run_eagerly() -> None:
    before = make.healthy(calls=make.calls("c....", graphs=2))
    for left, outcome in (((), "holds"), ((sample(24, 0.9),) * 2, "not_resolved")):
        after = make.healthy("tried", operators=left)
        row = judge_break_experiment(before, after, "n", "a setting", "graph-break:0", ())
        assert row.outcome == outcome
    assert "24 of 25 operators eager" in row.sentence
