"""What became of each call, and why each compile happened, in one program with every fate."""

from __future__ import annotations

import pytest

from compile_ledger.facts.arm import Arm
from compile_ledger.facts.calls import Call
from compile_ledger.facts.compile import Compile

from .support import capture, dispositions, program

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def arm(tmp_path_factory: pytest.TempPathFactory) -> Arm:
    return capture(program("streams.py"), tmp_path_factory.mktemp("streams"))


def region_of(arm: Arm, target: str) -> int:
    return next(r.id for r in arm.regions if r.target == target)


def calls_of(arm: Arm, target: str) -> list[Call]:
    region = region_of(arm, target)
    return [call for call in arm.calls if call.region == region]


def compiles_of(arm: Arm, name: str) -> list[Compile]:
    code = next(c.id for c in arm.code_objects if c.name == name)
    return [c for c in arm.compiles if c.code_object == code]


def graphs(arm: Arm, target: str) -> list[int | None]:
    return [call.graphs for call in calls_of(arm, target)]


def test_the_program_was_seen_to_its_end(arm: Arm) -> None:
    assert (arm.status, arm.raised, arm.lost, arm.damage) == ("finished", None, (), ())


def test_the_default_policy_recompiles_once_and_settles(arm: Arm) -> None:
    assert dispositions(arm, "settles") == ["compiled", "recompiled", *["reused"] * 4]
    assert graphs(arm, "settles") == [1] * 6
    first, second = compiles_of(arm, "settles")
    assert (first.reasons, first.entries_before, first.call) == ((), 0, 0)
    assert (second.entries_before, second.call) == (1, 1)
    assert second.reasons == ("0/0: tensor 'x' size mismatch at index 0. expected 3, actual 4",)
    assert second.made_dynamic


def test_static_sizes_fill_the_line_then_one_call_is_refused_and_later_ones_are_silent(
    arm: Arm,
) -> None:
    fates = dispositions(arm, "grows")
    assert fates == ["compiled", *["recompiled"] * 7, "reused", "refused", "fell_back", "reused"]
    assert graphs(arm, "grows") == [*[1] * 9, 0, 0, 1]
    assert [call.silent for call in calls_of(arm, "grows")] == [*[0] * 10, 1, 0]
    assert [call.sizes["x"] for call in calls_of(arm, "grows")][:3] == [(2,), (3,), (4,)]


def test_every_entry_that_refused_a_call_gives_its_reason(arm: Arm) -> None:
    found = compiles_of(arm, "grows")
    assert [len(one.reasons) for one in found] == list(range(9))
    assert [one.entries_before for one in found] == list(range(9))
    for one in found:
        entries = [reason.partition(":")[0] for reason in one.reasons]
        assert sorted(entries) == [f"1/{n}" for n in range(one.entries_before)]


def test_a_refusal_names_its_limit_and_leaves_no_entry(arm: Arm) -> None:
    *kept, last = compiles_of(arm, "grows")
    assert (last.outcome, last.limit, last.limit_value) == ("refused", "recompile_limit", 8)
    assert (last.kept, last.graph_ops) == (False, None)
    assert all(one.kept and one.graph_ops for one in kept)


def test_a_call_that_only_returns_its_input_switches_the_code_object_off(arm: Arm) -> None:
    assert dispositions(arm, "off_later") == ["compiled", "reused", *["switched_off"] * 3]
    assert graphs(arm, "off_later") == [1, 1, 0, 0, 0]
    last = compiles_of(arm, "off_later")[-1]
    assert (last.outcome, last.call, last.kept) == ("switched_off", 2, False)
    assert last.why


def test_a_region_without_an_operation_is_off_from_the_start(arm: Arm) -> None:
    assert dispositions(arm, "empty") == ["switched_off"] * 3
    assert graphs(arm, "empty") == [0] * 3


def test_an_exception_that_leaves_a_call_is_kept_with_the_users_line(arm: Arm) -> None:
    assert dispositions(arm, "raises_once") == ["compiled", "reused", "raised", "switched_off"]
    raised = [call.raised for call in calls_of(arm, "raises_once")]
    assert [one is not None for one in raised] == [False, False, True, False]
    assert raised[2]
    assert (raised[2].type, raised[2].message) == ("ValueError", "too long")
    assert raised[2].place
    assert raised[2].place.function == "raises_once"


def test_a_region_called_inside_another_is_a_call_of_both(arm: Arm) -> None:
    assert dispositions(arm, "outer") == ["compiled", "reused", "reused"]
    assert dispositions(arm, "inner") == ["compiled", "reused", "reused"]
    assert graphs(arm, "inner") == [1] * 3
    assert graphs(arm, "outer") == [3] * 3, "both halves and the inner region's graph"
    resumed = [c for c in arm.code_objects if c.resume_of == "outer"]
    assert len(resumed) == 1


def test_a_miss_belongs_to_the_region_that_was_called_last(arm: Arm) -> None:
    assert {one.region for one in compiles_of(arm, "inner")} == {region_of(arm, "inner")}
    assert {one.region for one in compiles_of(arm, "outer")} == {region_of(arm, "outer")}


@pytest.mark.parametrize("target", ["in_thread_a", "in_thread_b"])
def test_threads_in_regions_at_one_time_are_kept_apart(arm: Arm, target: str) -> None:
    assert dispositions(arm, target) == ["compiled", "reused", "recompiled", "reused"]
    assert graphs(arm, target) == [1] * 4
    assert [call.index for call in calls_of(arm, target)] == [0, 1, 2, 3]
    assert len({call.thread for call in calls_of(arm, target)}) == 1


def test_each_thread_has_a_number_of_its_own(arm: Arm) -> None:
    threads = {calls_of(arm, name)[0].thread for name in ("in_thread_a", "in_thread_b", "grows")}
    assert len(threads) == 3


def test_calls_are_numbered_within_their_region_and_timed(arm: Arm) -> None:
    for region in arm.regions:
        mine = calls_of(arm, region.target)
        assert [call.index for call in mine] == list(range(len(mine)))
        assert all(call.wall_ns > 0 and call.at_ns > 0 for call in mine)
