"""From a program to a judged recording, as a user types it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import torch
def serve(x):
    return x * 2
compiled = torch.compile(serve, backend="eager", dynamic=False)
for size in range(40):
    compiled(torch.ones(2 + size % 20))
"""


def ledger(*words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "compile_ledger", *words]
    return subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=folder, timeout=120
    )


@pytest.mark.parametrize("timeline", [(), ("--timeline",)])
def test_record_then_read(tmp_path: Path, timeline: tuple[str, ...]) -> None:
    (tmp_path / "serve.py").write_text(PROGRAM)
    done = ledger("record", "-o", "out", *timeline, "serve.py", folder=tmp_path)
    assert (done.returncode, done.stdout) == (0, "")
    read = ledger("read", "out", "--json", "-o", "kept", folder=tmp_path)
    assert read.returncode == 1, read.stderr
    found = json.loads(read.stdout)
    assert (tmp_path / "kept" / "ledger.json").read_text() == read.stdout
    diagnosis = found["diagnosis"]
    assert (diagnosis["level"], diagnosis["slug"]) == ("STABLE", "recompile-shape")
    assert "x changes size on axis 0" in diagnosis["sentence"]
    # 20 sizes twice: 8 got an entry, one attempt was refused, 23 calls ran eagerly.
    assert "23 calls ran eagerly" in diagnosis["sentence"]
    assert (Path(diagnosis["site"]["file"]).name, diagnosis["site"]["line"]) == ("serve.py", 5)
    (region,) = found["regions"]
    assert {name: n for name, n in region["dispositions"].items() if n} == {
        "compiled": 1,
        "recompiled": 7,
        "reused": 8,
        "refused": 1,
        "fell_back": 23,
    }
    commands = {row["what"]: row["command"] for row in found["not_measured"]}
    assert commands["CORRECT"].startswith("compile-ledger audit serve.py")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("record",), "give a TARGET"),
        (("record", "nowhere.py"), "nowhere.py does not exist"),
        (("record", "-m", "m", "x.py"), "not both"),
        (("record", "serve.py:serve"), "names a function"),
        (("record", "--interval", "0", "serve.py"), "--interval wants seconds"),
        (("read", "nowhere"), "does not exist"),
    ],
)
def test_a_mistake_is_one_line_and_exit_2(
    tmp_path: Path, words: tuple[str, ...], said: str
) -> None:
    (tmp_path / "serve.py").write_text(PROGRAM)
    done = ledger(*words, folder=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert said in line


def test_env_shows_the_capability_table(tmp_path: Path) -> None:
    done = ledger("env", "--probe", "--json", folder=tmp_path)
    found = json.loads(done.stdout)
    assert {row["name"] for row in found["capabilities"]} >= {"regions", "misses", "entry-runs"}
    assert found["behaviour"]["past the limit, a new value"] == "runs eagerly, silently"
    assert found["behaviour"]["12 different strings"] == "8 compiles"
