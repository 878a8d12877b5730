"""What is left on disk, however the program ends."""

import json
import resource
from pathlib import Path

import pytest

from .support import PROGRAMS, Run, arms, assert_silent

CLI = ("-m", "compile_ledger", "record", "--interval", "0.2", "-o")


def record(run: Run, folder: Path, how: str, number: int, code: int) -> str:
    words = (*CLI, str(folder), str(PROGRAMS / "calls.py"), "--", how, str(number))
    done = run(*words, code=code)
    assert done.stdout == "called\n"
    return done.stderr


@pytest.mark.parametrize(("how", "code"), [("kill", -9), ("_exit", 7)])
def test_no_goodbye_but_every_count(run: Run, tmp_path: Path, how: str, code: int) -> None:
    record(run, tmp_path / "out", how, 60, code)
    (arm,) = arms(tmp_path / "out")
    assert arm.status == "killed"
    assert "without a goodbye" in arm.why
    assert arm.counters
    assert [r.calls for r in arm.counters.regions] == [60]
    assert sum(e.runs for e in arm.counters.entries) == 40
    assert_silent(arm, 19)


def test_an_exception_is_the_program_s_own(run: Run, tmp_path: Path) -> None:
    told = record(run, tmp_path / "out", "raise", 3, 1)
    bare = run("calls.py", "raise", "3", code=1).stderr
    assert told == bare
    (arm,) = arms(tmp_path / "out")
    assert arm.status == "raised"
    assert arm.raised
    assert (arm.raised.type, arm.raised.message) == ("ValueError", "3")


def test_exit_code_is_the_program_s_own(run: Run, tmp_path: Path) -> None:
    record(run, tmp_path / "out", "exit", 3, 5)
    (arm,) = arms(tmp_path / "out")
    assert arm.status == "finished"


def test_calls_of_an_exit_handler_count(run: Run, tmp_path: Path) -> None:
    record(run, tmp_path / "out", "atexit", 4, 0)
    (arm,) = arms(tmp_path / "out")
    assert arm.counters
    assert [r.calls for r in arm.counters.regions] == [7]
    assert arm.status == "finished"


def test_unwritable_folder_costs_one_warning(run: Run, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    told = record(run, tmp_path / "file" / "out", "end", 3, 0)
    (line,) = told.splitlines()
    assert line.startswith("compile-ledger: evidence is being lost: ")


def test_full_disk_costs_one_warning(run: Run, tmp_path: Path) -> None:
    def small() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (6000, 6000))

    words = (*CLI, str(tmp_path / "out"), str(PROGRAMS / "calls.py"), "--", "end", "5")
    done = run(*words, preexec_fn=small)
    assert done.stdout == "called\n"
    assert len(done.stderr.splitlines()) == 1
    (arm,) = arms(tmp_path / "out")
    assert arm.status == "killed"
    assert len(arm.damage) <= 1


def test_nothing_compiled_leaves_nothing(run: Run, tmp_path: Path) -> None:
    (tmp_path / "idle.py").write_text("import torch._dynamo")
    run(*CLI, str(tmp_path / "out"), "idle.py")
    assert not (tmp_path / "out").exists()
    done = run("-m", "compile_ledger", "read", str(tmp_path), code=2)
    assert "no process that was recorded made a torch.compile region" in done.stderr


def test_rank_and_pid_are_in_the_name(run: Run, tmp_path: Path) -> None:
    words = (*CLI, str(tmp_path / "out"), str(PROGRAMS / "calls.py"), "--", "end", "2")
    run(*words, env={"RANK": "3"})
    (path,) = (tmp_path / "out").iterdir()
    assert path.name.startswith("rank3-pid")
    header = json.loads(path.read_text().splitlines()[0])
    assert header["rank"] == 3
