"""A program behaves the same with and without the recorder."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from .support import PROGRAMS, Run, arms

ATLEAST = 26


@pytest.mark.slow
def test_programs_print_the_same(run: Run, tmp_path: Path) -> None:
    script = str(PROGRAMS / "compat.py")
    folder = str(tmp_path / "out")
    record = ("-m", "compile_ledger", "record", "-o", folder)
    with ThreadPoolExecutor() as pool:
        runs = [
            pool.submit(run, *command)
            for command in (
                (script,),
                (*record, script),
                (*record, "--timeline", script),
            )
        ]
        bare, recorded, timeline = (one.result().stdout.splitlines() for one in runs)
    assert len(bare) > ATLEAST
    assert recorded == bare
    assert timeline == bare
    for arm in arms(tmp_path / "out"):
        assert not arm.lost
        assert arm.status == "finished"
