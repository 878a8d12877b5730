"""Programs, modules and options of ``audit``, and its exit codes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from compile_ledger.render.json import json_schema

from .audit_cli import COMMAND, Done, command, level, statuses

pytestmark = pytest.mark.slow

SERVER = """
import sys
import torch
def serve(x): return x.sin() + 1
compiled = torch.compile(serve, backend="eager", dynamic=False)
sizes = [int(size) for size in sys.argv[1:]]
while True:
    for size in sizes:
        compiled(torch.ones(size))
"""


def arms(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {arm["name"]: arm for arm in document["arms"]}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("options")
    (made / "package").mkdir()
    (made / "package" / "__init__.py").write_text("")
    (made / "package" / "serve.py").write_text(SERVER)
    (made / "serve.py").write_text(SERVER)
    return made


@pytest.fixture(scope="module")
def endless(folder: Path) -> Done:
    """A script with arguments that never ends, bounded by its calls."""
    given = ["--quick", "--max-calls", "9", "--json", "--compare", "3", "serve.py"]
    return command("audit", *given, "--", "3", "3", "4", cwd=folder)


def test_a_service_that_never_ends_is_audited_by_its_first_calls(endless: Done) -> None:
    assert endless.code == 0, endless.err
    document = endless.document
    assert list(arms(document)) == ["eager", "eager_again", "capture"]
    assert {arm["status"] for arm in document["arms"]} == {"stopped"}
    assert [len(arm["calls"]) for arm in document["arms"]] == [9] * 3


def test_arguments_after_two_dashes_are_the_programs(endless: Done) -> None:
    calls = arms(endless.document)["capture"]["calls"]
    fates = [call["disposition"] for call in calls]
    assert fates == ["compiled", "reused", "recompiled", *["reused"] * 6]
    assert endless.document["target"] == "serve.py 3 3 4"


def test_so_many_calls_are_compared_as_were_asked_for(endless: Done) -> None:
    assert endless.document["correctness"]["calls"] == 3


def test_no_level_failing_is_exit_code_0_and_levels_up_to_stable_hold(endless: Done) -> None:
    assert endless.document["diagnosis"] is None
    assert [statuses(endless.document)[n] for n in ("RUNS", "CORRECT", "CAPTURED", "STABLE")] == [
        "holds"
    ] * 4
    jsonschema.validate(json.loads(endless.out), json_schema())


@pytest.fixture(scope="module")
def module(folder: Path) -> Done:
    """A module whose sizes do not settle; shown on the terminal, and required in full."""
    sizes = [str(size) for size in range(2, 14)]
    given = ["--quick", "--max-calls", "12", "-o", "kept", "-m", "package.serve"]
    return command("audit", *given, "--", *sizes, cwd=folder)


def test_a_module_is_audited_as_python_runs_it(module: Done, folder: Path) -> None:
    document = json.loads((folder / "kept" / "ledger.json").read_text())
    assert module.code == 1
    assert document["target"].startswith("-m package.serve 2 3")
    assert document["diagnosis"]["slug"] == "recompile-shape"
    assert document["regions"][0]["site"]["file"] == str(folder / "package" / "serve.py")
    assert "experiment:default-policy" in arms(document)


def test_the_terminal_report_starts_with_the_verdict_and_fits_80_columns(module: Done) -> None:
    lines = module.out.strip().splitlines()
    assert "STABLE fails" in lines[0]
    assert "x changes size on axis 0" in " ".join(module.out.split())
    assert all(len(line) <= 80 for line in module.out.splitlines())


def test_the_same_folder_can_be_used_again(folder: Path, module: Done) -> None:
    assert module.code == 1
    given = ["--quick", "--max-calls", "3", "--json", "-o", "kept", "--require", "stable"]
    again = command("audit", *given, "serve.py", "--", "3", cwd=folder)
    assert level(again.document, "STABLE")["status"] == "not_measured"
    assert again.code == 1, "a level that is required and not measured is a failure"
    assert again.document["diagnosis"] is None
    assert json.loads((folder / "kept" / "ledger.json").read_text()) == again.document


WAITS = """
import os, sys, time, torch
compiled = torch.compile(lambda x: x + 1, backend="eager")
for _ in range(4):
    compiled(torch.ones(2))
if os.path.exists("once"):
    open("waits", "w").write(str(os.getpid()))
    time.sleep(600)
open("once", "w").close()
"""


def wait_for(file: Path, process: subprocess.Popen[str]) -> str:
    for _ in range(6000):
        if file.is_file() and file.read_text():
            return file.read_text()
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)
    raise AssertionError(file)


@pytest.fixture(scope="module")
def interrupted(tmp_path_factory: pytest.TempPathFactory) -> tuple[Done, Path, int]:
    """Ctrl-C while the second eager arm sleeps."""
    folder = tmp_path_factory.mktemp("interrupted")
    (folder / "waits.py").write_text(WAITS)
    process = subprocess.Popen(
        [*COMMAND, "audit", "--json", "-o", "kept", "waits.py"],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    pid = int(wait_for(folder / "waits", process))
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    return Done(process.returncode, out, err), folder, pid


def test_an_interrupt_leaves_a_valid_ledger_that_says_so(
    interrupted: tuple[Done, Path, int],
) -> None:
    done, folder, _ = interrupted
    document = json.loads((folder / "kept" / "ledger.json").read_text())
    jsonschema.validate(document, json_schema())
    assert document == done.document
    assert document["interrupted"] is True
    assert list(arms(document)) == ["eager"]
    assert len(arms(document)["eager"]["calls"]) == 4
    assert {one["status"] for one in document["levels"]} == {"not_measured"}
    for name in ("RUNS", "CORRECT", "CAPTURED", "STABLE"):
        assert level(document, name)["why"].startswith("interrupted: ")
    assert "interrupted" in document["verdict"]


def test_an_interrupt_is_exit_code_2_and_one_line(interrupted: tuple[Done, Path, int]) -> None:
    done, _, _ = interrupted
    assert done.code == 2
    assert "interrupted" in done.said
    assert "Traceback" not in done.err


def test_an_interrupt_leaves_no_process_running(interrupted: tuple[Done, Path, int]) -> None:
    with pytest.raises(ProcessLookupError):
        os.kill(interrupted[2], 0)
