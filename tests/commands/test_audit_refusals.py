"""What cannot be audited: one clear line with the remedy, exit 2, nothing on stdout."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from .audit_cli import Done, command, level, statuses

NEVER = "import torch\nprint('no region')\n"
UNUSED = """
import torch
compiled = torch.compile(lambda x: x + 1, backend="eager")
if __name__ == "__main__":
    import sys
    if sys.argv[1:]:
        compiled(torch.ones(2))
"""
EARLY = UNUSED.replace("if sys", "sys.exit(4)\n    if sys")
MISSING = "import torch, a_package_that_is_not_there\n"
WITHOUT_TORCH = "import sys; sys.modules['torch'] = None\n"
USAGE = """
import argparse
parser = argparse.ArgumentParser()
parser.add_argument("data")
parser.parse_args()
"""
FILES = {
    "never.py": NEVER,
    "unused.py": UNUSED,
    "early.py": EARLY,
    "usage.py": USAGE,
    "no.py": "#!/bin/sh\nset -e; exec serve --port 80\n",
    "data.py": "import torch\nf = torch.compile(abs)\nopen('absent.csv')\n",
    "missing.py": MISSING,
    "raises.py": "raise ValueError('at import')\n",
    "wrong.py": "import torch\ndef build(): return torch.ones(2)\n",
    "blocker/sitecustomize.py": WITHOUT_TORCH,
}
COMMANDS: dict[str, list[str]] = {
    "never": ["never.py"],
    "never named": ["-m", "never"],
    "unused": ["unused.py"],
    "early": ["early.py"],
    "usage": ["usage.py"],
    "no python": ["no.py"],
    "no data": ["data.py"],
    "missing": ["missing.py"],
    "missing named": ["missing.py:build"],
    "raises named": ["raises.py:build"],
    "no such name": ["never.py:build"],
    "wrong shape": ["wrong.py:build"],
    "no module": ["-m", "package.that.is.not.there"],
    "no torch": ["unused.py", "--", "run"],
}
"""Audits that start a process and can tell nothing."""
SAID = {
    "never": "never called torch.compile: give a program that does, or file.py:name with a",
    "never named": "-m never never called torch.compile",
    "unused": "but never ran a compiled region: give unused.py the arguments after --",
    "early": "ran a compiled region before it ended with exit code 4",
    "usage": "ended with exit code 2: usage: usage.py [-h] data usage.py: error: the following",
    "no python": "no.py cannot run: SyntaxError: ",
    "no data": "absent.csv is looked for in ",
    "missing": "the package a_package_that_is_not_there is not installed here: install it",
    "missing named": "the package a_package_that_is_not_there is not installed here: install it",
    "raises named": "raises.py:build cannot run: ValueError: at import (",
    "no such name": "never.py has no build",
    "wrong shape": "returned Tensor and compiled nothing: wanted a Workload",
    "no module": "package.that.is.not.there: No module named 'package'",
    "no torch": "torch is not installed in this Python: pip install 'compile-ledger[torch]'",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("refused")
    for name, text in FILES.items():
        (made / name).parent.mkdir(exist_ok=True)
        (made / name).write_text(text)
    return made


@pytest.fixture(scope="module")
def refused(folder: Path) -> dict[str, Done]:
    def audit(name: str) -> Done:
        env = {"PYTHONPATH": str(folder / "blocker")} if name == "no torch" else {}
        return command("audit", "--quick", "--json", *COMMANDS[name], cwd=folder, **env)

    with ThreadPoolExecutor(2) as pool:
        return dict(zip(COMMANDS, pool.map(audit, COMMANDS), strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_a_target_with_nothing_to_audit_gives_one_line_with_the_remedy(
    refused: dict[str, Done], name: str
) -> None:
    done = refused[name]
    assert (done.code, done.out) == (2, "")
    assert SAID[name] in done.said
    assert "Traceback" not in done.err


@pytest.mark.slow
def test_the_site_of_the_region_that_never_ran_is_named(
    refused: dict[str, Done], folder: Path
) -> None:
    assert f"({folder / 'unused.py'}:3)" in refused["unused"].said


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["absent.py"], "absent.py does not exist: give a script, file.py:name, or -m module"),
        (["absent.py:workload"], "absent.py does not exist"),
        ([], "give a TARGET: script.py, file.py:name, or -m MODULE"),
        (["never.py:build", "--", "x"], "arguments after -- go to scripts and modules only"),
        (["-m", "never", "never.py"], "give a TARGET or -m MODULE, not both"),
        (["-o", "never.py/kept", "never.py"], "give another folder with -o"),
        (["-o", "never.py", "never.py"], "give another folder with -o"),
        (["--html", "absent/x.html", "never.py"], "absent is not a folder that you may write to"),
        (["--html", "blocker", "never.py"], "cannot write blocker: it is a directory: give a file"),
    ],
)
def test_what_is_wrong_before_any_arm_is_told_at_once(
    folder: Path, given: list[str], said: str
) -> None:
    done = command("audit", *given, cwd=folder)
    assert (done.code, done.out) == (2, "")
    assert said in done.said


@pytest.mark.parametrize(
    "given",
    [
        ["--quick", "--full"],
        ["--max-calls", "0"],
        ["--max-calls", "many"],
        ["--compare", "-1"],
        ["--threads", "0"],
        ["--horizon", "0"],
        ["--timeout", "soon"],
        ["--timeout", "0"],
        ["--timeout", "nan"],
        ["--require", "everything"],
        ["--no-such-option"],
    ],
)
def test_an_option_that_makes_no_sense_is_a_usage_error(folder: Path, given: list[str]) -> None:
    done = command("audit", *given, "never.py", cwd=folder)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("Usage: compile-ledger")
    assert given[0] in done.err


NO_COMPILER = """
import torch
import torch._inductor.config
torch._inductor.config.cpp.cxx = ("/absent/g++",)
compiled = torch.compile(lambda x: x.sin() + 1)
for _ in range(4):
    compiled(torch.ones(8))
"""
BUG = """
import torch
from compile_ledger import Workload
def broken(x):
    return x @ torch.ones(7)
def workload():
    return Workload(broken, [torch.ones(3)] * 2)
"""
KILLED = """
import os, signal, torch
compiled = torch.compile(lambda x: x + 1, backend="eager")
for _ in range(3):
    compiled(torch.ones(2))
if torch._dynamo.utils.counters["frames"]:
    os.kill(os.getpid(), signal.SIGKILL)
"""
"""Only an arm that compiles is killed."""


def failing(folder: Path, text: str, *given: str, name: str = "") -> tuple[Done, dict[str, Any]]:
    """An audit whose ledger is kept whatever its exit code."""
    (folder / "program.py").write_text(text)
    target = "program.py" + (f":{name}" if name else "")
    done = command("audit", "-o", "kept", "--json", *given, target, cwd=folder)
    assert json.loads((folder / "kept" / "ledger.json").read_text()) == done.document
    return done, done.document


@pytest.mark.slow
@pytest.mark.parametrize("depth", [["--quick"], []])
def test_without_a_compiler_runs_fails_with_the_remedy(tmp_path: Path, depth: list[str]) -> None:
    done, document = failing(tmp_path, NO_COMPILER, *depth)
    assert done.code == 2
    assert document["diagnosis"]["level"] == "RUNS"
    assert document["diagnosis"]["slug"] == "toolchain-missing"
    assert "install g++" in document["diagnosis"]["sentence"]
    assert len(next(a for a in document["arms"] if a["name"] == "capture")["calls"]) == 4


@pytest.mark.slow
def test_an_ordinary_bug_is_told_from_the_compilers(tmp_path: Path) -> None:
    done, document = failing(tmp_path, BUG, name="workload")
    assert done.code == 1
    found = document["diagnosis"]
    assert (found["level"], found["slug"]) == ("RUNS", "eager-raises")
    assert found["sentence"].startswith("an ordinary bug: eager raises too: RuntimeError")
    assert (found["site"]["line"], found["site"]["function"]) == (5, "broken")
    assert [arm["name"] for arm in document["arms"]] == ["eager", "plain"], "no arm compiles"


@pytest.mark.slow
def test_an_arm_that_is_killed_keeps_what_was_measured(tmp_path: Path) -> None:
    done, document = failing(tmp_path, KILLED, "--quick")
    assert done.code == 2
    capture = next(arm for arm in document["arms"] if arm["name"] == "capture")
    assert (capture["status"], len(capture["calls"])) == ("killed", 3)
    assert capture["why"] == "killed by signal SIGKILL"
    assert "the capture arm did not finish (killed by signal SIGKILL)" in done.said
    assert "holds" not in statuses(document).values() or level(document, "RUNS")["why"]
