"""Every process that compiles or calls writes its own file, with its own counts."""

from pathlib import Path

import pytest

from compile_ledger.facts.arm import Arm

from .support import PROGRAMS, Run, arms, assert_silent

CLI = ("-m", "compile_ledger", "record", "--interval", "0.2", "-o")


def calls(arm: Arm) -> int:
    return sum(r.calls for r in arm.counters.regions) if arm.counters else 0


def by_calls(folder: Path) -> dict[int, Arm]:
    return {calls(arm): arm for arm in arms(folder)}


@pytest.mark.slow
def test_each_child_counts_for_itself(run: Run, tmp_path: Path) -> None:
    kinds = ("fork", "spawn", "raw", "idle", "loader")
    script = str(PROGRAMS / "children.py")
    told = run(*CLI, str(tmp_path / "out"), script, "--", *kinds).stdout
    assert told == run("children.py", *kinds).stdout
    found = arms(tmp_path / "out")
    assert sorted(calls(arm) for arm in found) == [5, 6, 7, 7, 13]
    parent = by_calls(tmp_path / "out")[13]
    assert parent.header
    forks = [arm for arm in found if arm.header and arm.header.forked_from == parent.header.pid]
    assert sorted(calls(arm) for arm in forks) == [5, 6, 7]
    for arm in found:
        assert arm.status == "finished"
        assert not arm.lost
        assert arm.counters
        assert sum(entry.runs for entry in arm.counters.entries) == calls(arm)
        assert_silent(arm, 0)
    inherited = by_calls(tmp_path / "out")[5]
    assert [c.inherited for c in inherited.compiles] == [True]


def test_a_child_that_leaves_at_once_is_one_interval_behind(run: Run, tmp_path: Path) -> None:
    script = str(PROGRAMS / "children.py")
    run(*CLI, str(tmp_path / "out"), script, "--", "leave")
    found = by_calls(tmp_path / "out")
    assert set(found) == {5, 13}
    assert found[5].status == "killed"
