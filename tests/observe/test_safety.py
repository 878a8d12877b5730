"""The recorder never harms its program."""

from pathlib import Path

import pytest

from .support import Run, arms


@pytest.mark.slow
@pytest.mark.parametrize("timeline", [0, 1000])
def test_thousands_of_interrupts(run: Run, tmp_path: Path, timeline: int) -> None:
    done = run("storm.py", str(tmp_path / "out"), str(timeline))
    assert int(done.stdout) > 2000
    assert done.stderr == ""
    (arm,) = arms(tmp_path / "out")
    assert arm.status == "finished"
    assert not arm.lost


def test_each_hook_may_fail(run: Run, tmp_path: Path) -> None:
    done = run("faults.py", str(tmp_path / "out"))
    lost = dict(line.split() for line in done.stdout.splitlines())
    assert len(lost) == 10
    assert all(int(number) > 0 for number in lost.values()), lost
