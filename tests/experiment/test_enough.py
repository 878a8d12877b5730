"""When an arm has seen enough of a program that goes on."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from compile_ledger.experiment import plan
from compile_ledger.experiment.enough import CALLS, LONG, Enough, Prefix
from compile_ledger.experiment.plan import Terms
from compile_ledger.facts.calls import Call

from .support import program, run


class Arm:
    """An arm whose clock is set by hand; ``stream`` stops where it is ended."""

    def __init__(self, prefix: Prefix | None) -> None:
        self.now = 0.0
        self.ended = ""
        self.enough = Enough(prefix, self._end, lambda: self.now)

    def _end(self, why: str) -> None:
        self.ended = why

    def call(self, region: int = 0, disposition: Any = "reused", depth: int = 0) -> None:
        opened: Any = SimpleNamespace(
            depth=depth, region=SimpleNamespace(fact=SimpleNamespace(target=f"region {region}"))
        )
        self.enough.after(opened, Call(region, 0, disposition))

    def stream(self, letters: Iterable[str], seconds: float) -> int:
        """One call for each letter, ``seconds`` apart; how many until it was ended."""
        for number, letter in enumerate(letters, start=1):
            self.call(disposition={"c": "compiled", "r": "recompiled"}.get(letter, "reused"))
            if self.ended:
                return number
            self.now += seconds
        return 0


def test_a_program_that_runs_whole_is_never_ended() -> None:
    assert not Arm(None).stream("c" + "." * 5000, 1.0)


def test_eager_is_followed_for_a_minute_and_until_enough_is_compared() -> None:
    assert Arm(Prefix()).stream("." * 5000, 0.1) == 601
    assert Arm(Prefix()).stream("." * 5000, 10.0) == CALLS
    assert Arm(Prefix()).stream("." * 5000, 60.0) == 6, "a call a minute"


def test_a_short_program_sees_its_own_end() -> None:
    arm = Arm(Prefix())
    assert not arm.stream("." * 1000, LONG / 1001)
    assert arm.enough.waits_for() == "the program's end, or 0 s more"


def test_regions_that_are_called_no_more_are_not_waited_for() -> None:
    arm = Arm(Prefix())
    arm.call(1)
    assert arm.stream("." * 5000, 0.1) == 601

    arm = Arm(Prefix())
    arm.stream("." * 500, 0.1)
    arm.call(1)
    assert arm.stream("." * 5000, 0.1)
    assert arm.now == pytest.approx(110, abs=0.2), "a minute after its last call"


def test_a_region_that_is_seldom_called_is_waited_for_three_minutes() -> None:
    arm = Arm(Prefix())
    for _ in range(5000):
        arm.call(0)
        if arm.enough.all.calls % 500 == 0:
            arm.call(1)
        if arm.ended:
            break
        arm.now += 0.1
    assert arm.now == pytest.approx(180, abs=0.2)


def test_calls_inside_another_region_s_call_are_not_counted() -> None:
    arm = Arm(Prefix(3))
    arm.call(depth=1)
    assert arm.stream("." * 10, 0.0) == 3
    assert arm.ended == "after the 3 calls that were seen before"


def test_a_compiled_arm_ends_when_compiling_had_ended() -> None:
    arm = Arm(Prefix(1000, settle=True))
    assert arm.stream("cr" + "." * 5000, 1.0) == 61
    assert arm.ended == "after 61 calls in 60 s, compiling had ended"
    assert Arm(Prefix(40, settle=True)).stream("cr" + "." * 5000, 0.01) == 40, "not sooner"


def test_a_late_compile_is_followed_until_it_has_left_the_tail() -> None:
    assert Arm(Prefix(30, settle=True)).stream("c" + "." * 24 + "r" + "." * 99, 0.1) == 39


def test_a_stream_that_never_settles_is_followed_for_twice_the_calls() -> None:
    arm = Arm(Prefix(30, settle=True))
    assert arm.stream(("r...." * 99), 0.1) == 60
    assert arm.ended.endswith("still compiling")


def test_a_stream_that_fails_beyond_doubt_ends_sooner() -> None:
    assert Arm(Prefix(1000, settle=True)).stream("r." * 500, 2.0) == 31, "after the minute"
    assert Arm(Prefix(40, settle=True)).stream("r" * 500, 0.01) == 40, "as many calls as eager"
    assert Arm(Prefix(1000, settle=True)).stream("r." * 500, 50.0) == 7, "five minutes at most"


def test_what_is_waited_for_is_said() -> None:
    arm = Arm(Prefix(300, settle=True))
    assert arm.enough.waits_for() == "its first region call"
    arm.stream("c..", 25.0)
    assert arm.enough.waits_for() == "region 0: 3 of 12 calls"
    arm = Arm(Prefix(300, settle=True))
    arm.stream("r...." * 13, 1.0)
    assert arm.enough.waits_for() == "region 0 to settle: it compiled at call 60"
    assert Arm(Prefix(300)).enough.waits_for() == "its first region call"


def terms(tmp_path: Path, how: str, **changed: Any) -> Terms:
    return replace(Terms(program("ends.py", how), tmp_path), **changed)


@pytest.mark.slow
def test_arms_of_a_program_that_goes_on_see_the_same_calls(tmp_path: Path) -> None:
    where = terms(tmp_path, "never-ends", long=0.05)
    first = run(where, plan.eager(where))
    assert (first.status, first.why[:6]) == ("stopped", "after ")
    assert first.cut == len(first.calls) >= CALLS
    where = replace(where, seen=first.cut)
    again = run(where, plan.eager_again(where))
    assert (again.status, again.cut) == ("stopped", first.cut)


@pytest.mark.slow
def test_a_program_that_waits_for_ever_is_judged_by_what_it_did_before(tmp_path: Path) -> None:
    where = terms(tmp_path, "waits", timeout=12.0)
    eager = plan.eager(where)
    more = replace(plan.eager_again(where), suffices=3)
    with ThreadPoolExecutor(2) as pool:
        first, later = pool.map(lambda spec: run(where, spec), [eager, more])
    assert (first.status, first.why, first.cut) == ("stopped", "after 2 calls, at --timeout", 2)
    assert first.counters is not None, "it said goodbye"
    assert (later.status, later.why) == ("timed_out", "it ran past --timeout"), "eager saw more"
