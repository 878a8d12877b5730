"""Level 5: steady state against eager, and what a start costs."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from compile_ledger.facts.arm import Arm, Costs
from compile_ledger.facts.contract import Contract
from compile_ledger.facts.timing import SteadyState
from compile_ledger.judge import bootstrap
from compile_ledger.judge.choose import Arms
from compile_ledger.judge.document import Cost
from compile_ledger.judge.ledger import judge, judge_levels
from compile_ledger.judge.lines import cost_line
from compile_ledger.judge.worth_it.level import judge_worth_it
from compile_ledger.judge.worth_it.payback import break_even, cost

from . import make

MS = 1_000_000


def start(name: str, first_ns: int, number: int = 100, prewarm_ns: int = 0) -> Arm:
    """A cold or warm arm whose first call compiles for ``first_ns`` of CPU."""
    calls = list(make.calls("c" + "." * (number - 1), cpu_ns=MS))
    calls[0] = dataclasses.replace(calls[0], cpu_ns=first_ns + MS)
    return make.healthy(name, calls=tuple(calls), costs=Costs(prewarm=prewarm_ns or None))


def measured(
    fact: SteadyState, cold_ns: int = 20 * MS, warm_ns: int = 5 * MS, **fields: Any
) -> Arms:
    """Eager, capture, cold, warm and steady arms."""
    return make.arms(
        make.eager(),
        make.healthy(),
        start("cold", cold_ns, **fields),
        start("warm", warm_ns, **fields),
        make.arm("steady", steady=(fact,)),
    )


def numbers(every: Arms, contract: Contract = make.INDUCTOR) -> Cost:
    return cost(every, contract, every["cold"])


class TestSteadyState:
    def test_faster_holds_with_its_gain_and_its_price(self) -> None:
        found = judge_worth_it(measured(make.steady(2 * MS, MS)), make.INDUCTOR)
        assert found.level.status == "holds"
        assert found.level.why == (
            "2 times faster (0.500 times eager's CPU time [0.500, 0.500], saves 1 ms a call); "
            "repaid after 5 calls warm, 20 cold; state --horizon to judge a restart"
        )

    def test_a_short_demonstration_judges_nothing(self) -> None:
        every = measured(make.steady(2 * MS, MS), cold_ns=9000 * MS, number=4)
        found = judge_worth_it(every, make.INDUCTOR)
        assert (found.level.status, found.findings) == ("holds", ())
        assert "repaid after 5 calls warm, 9,000 cold" in found.level.why

    def test_slower_fails(self) -> None:
        found = judge_worth_it(measured(make.steady(MS, 2 * MS, 1000)), make.INDUCTOR)
        assert found.fails
        assert found.findings[0].slug == "not-worth-it"
        assert "compiled is slower: 2.000 times eager's CPU time" in found.level.why
        assert "loses 1 ms a call" in found.level.why

    def test_noise_wider_than_the_effect_is_not_resolved(self) -> None:
        found = judge_worth_it(measured(make.steady(MS, MS - 1000, MS // 4)), make.INDUCTOR)
        assert found.level.status == "not_resolved"
        assert "the A/A interval" in found.level.why
        assert "wider than the effect" in found.level.why

    def test_without_a_resolved_saving_no_break_even_is_claimed(self) -> None:
        line = cost_line(numbers(measured(make.steady(MS, MS + 1000, MS // 4))))
        cells = {cell.name: cell for cell in line.cells}
        assert cells["break-even cold"].value is None
        assert cells["break-even cold"].why == "the saving is not resolved"

    def test_saving_that_may_be_zero_is_not_resolved(self) -> None:
        fact = make.steady(MS, MS, 0)
        swing = tuple(MS + (200 if i % 2 else -220) for i in range(60))
        found = judge_worth_it(measured(dataclasses.replace(fact, compiled=swing)), make.INDUCTOR)
        assert found.level.status == "not_resolved"
        assert "the interval of the saving includes zero" in found.level.why

    def test_without_an_a_a_side_nothing_is_resolved(self) -> None:
        fact = dataclasses.replace(make.steady(2 * MS, MS), eager_again=())
        found = judge_worth_it(measured(fact), make.INDUCTOR)
        assert found.level.status == "not_resolved"
        assert "no A/A interval" in found.level.why

    def test_a_difference_that_the_a_a_side_shows_too_is_not_resolved(self) -> None:
        fact = make.steady(MS, MS + 30_000, 0)
        drifted = dataclasses.replace(fact, eager_again=tuple(n + 40_000 for n in fact.eager))
        found = judge_worth_it(measured(drifted), make.INDUCTOR)
        assert found.level.status == "not_resolved"

    @pytest.mark.parametrize("compiled", [MS * 97 // 100, MS, MS * 103 // 100])
    def test_a_noisy_machine_resolves_no_small_difference(self, compiled: int) -> None:
        found = judge_worth_it(measured(make.steady(MS, compiled, MS // 3)), make.INDUCTOR)
        assert found.level.status == "not_resolved"
        assert found.command == ""

    def test_what_was_timed_of_a_training_step_is_said(self) -> None:
        fact = dataclasses.replace(
            make.steady(MS, 2 * MS), design="replayed calls, forward and backward"
        )
        found = judge_worth_it(measured(fact), make.INDUCTOR)
        assert "loses 1 ms a call (forward and backward, replayed)" in found.level.why

    def test_kinds_of_calls_weigh_what_their_share_is(self) -> None:
        train = dataclasses.replace(make.steady(100, 40), share=0.75)
        evaluation = dataclasses.replace(make.steady(20, 40), share=0.25)
        every = {**measured(train), "steady": make.arm("steady", steady=(train, evaluation))}
        assert numbers(every).eager_call.value == pytest.approx(80)
        assert numbers(every).compiled_call.value == pytest.approx(40)

    def test_too_few_samples_are_not_measured(self) -> None:
        found = judge_worth_it(measured(make.steady(2 * MS, MS, number=5)), make.INDUCTOR)
        assert found.level.status == "not_measured"
        assert "fewer than 8 pairs" in found.level.why

    def test_steady_state_that_could_not_be_taken_says_why(self) -> None:
        fact = SteadyState(0, "interleaved calls", why="the program has no calls to repeat")
        found = judge_worth_it(measured(fact), make.INDUCTOR)
        assert found.level.status == "not_measured"
        assert found.level.why == "the program has no calls to repeat"

    def test_regions_are_weighed_by_their_calls(self) -> None:
        one, other = make.steady(10, 10), dataclasses.replace(make.steady(110, 110), region=1)
        calls = (*make.calls("c.."), *make.calls("c", 1))
        every = make.arms(make.healthy("cold", calls=calls), make.arm("s", steady=(one, other)))
        assert numbers(every).eager_call.value == pytest.approx(35)


class TestPayback:
    def test_the_process_is_paid_apart_from_the_region(self) -> None:
        every = measured(make.steady(2 * MS, MS), cold_ns=20 * MS, prewarm_ns=30 * MS)
        found = numbers(every)
        assert found.cold_seconds == pytest.approx(0.050)
        assert found.cold_process_seconds == pytest.approx(0.030)
        assert found.cold_break_even == pytest.approx(20)
        assert found.warm_break_even == pytest.approx(5)
        why = judge_worth_it(every, make.INDUCTOR).level.why
        assert "(a process that compiles anything pays 30 ms warm, 30 ms cold before)" in why

    def test_a_backward_pass_that_compiled_after_the_call_is_paid_too(self) -> None:
        arm = start("cold", 20 * MS, 6)
        calls = [
            dataclasses.replace(call, at_ns=n, between_cpu_ns=[None, 43, 3, 3, 3, 3][n])
            for n, call in enumerate(arm.calls)
        ]
        calls = [
            dataclasses.replace(c, between_cpu_ns=c.between_cpu_ns and c.between_cpu_ns * MS)
            for c in calls
        ]
        every = {**measured(make.steady(2 * MS, MS))}
        every["cold"] = dataclasses.replace(arm, calls=tuple(calls))
        assert numbers(every).cold_seconds == pytest.approx(0.060)

    def test_calls_that_ran_eagerly_add_nothing_to_the_cost(self) -> None:
        arm = start("cold", 20 * MS, 5)
        slow = dataclasses.replace(arm.calls[4], disposition="fell_back", cpu_ns=99 * MS)
        every = {**measured(make.steady(2 * MS, MS))}
        every["cold"] = dataclasses.replace(arm, calls=(*arm.calls[:4], slow))
        assert numbers(every).cold_seconds == pytest.approx(0.020)

    @pytest.mark.parametrize(
        ("seconds", "saving", "calls"), [(1.0, 1e6, 1000.0), (1.0, 0.0, None), (None, 1e6, None)]
    )
    def test_break_even(self, seconds: float | None, saving: float, calls: float | None) -> None:
        assert break_even(seconds, saving) == calls

    def test_break_even_beyond_the_stated_horizon_fails_with_both_states(self) -> None:
        terms = Contract(target="serve.py", horizon=4)
        found = judge_worth_it(measured(make.steady(2 * MS, MS)), terms)
        assert found.fails
        assert "a cold and warm start is not repaid within 4 calls" in found.level.why
        assert "horizon 4 calls (stated)" in found.level.why

    def test_repaid_within_the_stated_horizon_holds_without_a_note(self) -> None:
        found = judge_worth_it(
            measured(make.steady(2 * MS, MS)), Contract(target="serve.py", horizon=1000)
        )
        assert (found.level.status, found.findings) == ("holds", ())
        assert found.level.why.endswith("horizon 1,000 calls (stated)")

    def test_repaid_by_warm_starts_only_holds_with_a_note(self) -> None:
        terms = Contract(target="serve.py", horizon=10)
        found = judge_worth_it(measured(make.steady(2 * MS, MS)), terms)
        assert found.level.status == "holds"
        assert "a cold start is not repaid within 10 calls" in found.level.why
        assert [(f.slug, f.severity) for f in found.findings] == [("not-worth-it", "note")]

    def test_saving_without_a_start_measured_is_not_measured(self) -> None:
        every = make.arms(make.eager(), make.arm("steady", steady=(make.steady(2 * MS, MS),)))
        found = judge_worth_it(every, make.INDUCTOR)
        assert found.level.status == "not_measured"
        assert "no cold or warm start was measured" in found.level.why


class TestNotAsked:
    @pytest.mark.parametrize("backend", ["eager", "aot_eager"])
    def test_backends_that_generate_no_code_are_not_asked(self, backend: str) -> None:
        every = measured(make.steady(MS, 2 * MS))
        found = judge_worth_it(every, Contract(own_backend=backend))
        assert found.level.status == "not_measured"
        assert found.level.why == (
            f"backend '{backend}' runs the captured graph as it is; there is nothing to be worth"
        )
        assert found.command == ""

    def test_not_measured_after_a_failure_is_said_to_be_not_judged(self) -> None:
        last = judge_levels(make.arms(make.eager(), make.chapter()), make.INDUCTOR)[-1]
        assert last.level.why == "not judged: STABLE failed first"
        assert last.command == "compile-ledger audit --full serve.py"

    def test_measured_after_a_failure_is_still_shown_and_marked(self) -> None:
        every = {**measured(make.steady(2 * MS, MS)), "cold": make.chapter("cold")}
        last = judge_levels(every, make.INDUCTOR)[-1]
        assert last.level.after_failure
        assert "0.500 times eager's" in last.level.why

    def test_without_steady_state_it_is_not_measured_with_the_command(self) -> None:
        found = judge(make.arms(make.eager(), make.healthy()), make.INDUCTOR, tool_version="0")
        (gap,) = [gap for gap in found.not_measured if gap.what == "WORTH_IT"]
        assert gap.why == "steady state was not measured"
        assert gap.command == "compile-ledger audit --full serve.py"

    def test_the_command_that_is_offered_was_not_just_run(self) -> None:
        quick = Contract(target="serve.py", depth="quick")
        found = judge_worth_it(make.arms(make.eager(), make.healthy()), quick)
        assert "--quick does not run generated code" in found.level.why
        assert found.command == "compile-ledger audit serve.py"
        fact = SteadyState(0, "replayed calls", why="none of the last 4 calls could be timed: x")
        assert judge_worth_it(measured(fact), make.INDUCTOR).command == ""


class TestBootstrap:
    def test_same_facts_give_the_same_interval(self) -> None:
        values = [float(i % 7) + 1 for i in range(50)]
        assert bootstrap.single(values) == bootstrap.single(values)

    def test_interval_holds_the_median_and_narrows_with_samples(self) -> None:
        few = bootstrap.single([float(i % 10) for i in range(20)])
        many = bootstrap.single([float(i % 10) for i in range(2000)])
        for found in (few, many):
            assert found.low is not None
            assert found.high is not None
            assert found.value is not None
            assert found.low <= found.value <= found.high
        assert bootstrap.width(many) < bootstrap.width(few)

    def test_pairs_cancel_what_disturbs_both(self) -> None:
        first = [100.0 * (1 + i % 5) for i in range(40)]
        found = bootstrap.paired(first, [0.9 * x for x in first], bootstrap.quotient)
        assert found.value == pytest.approx(0.9)
        assert bootstrap.width(found) < 1e-9

    def test_no_interval_from_few_samples(self) -> None:
        found = bootstrap.paired([1.0] * 7, [1.0] * 7, bootstrap.difference)
        assert found.value is None
        assert bootstrap.width(found) == float("inf")
