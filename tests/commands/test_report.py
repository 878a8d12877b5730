"""``report`` on files that hold no ledger: one line, exit 2."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from compile_ledger.commands import main, output
from compile_ledger.facts.arm import Arm, Goodbye, Header
from compile_ledger.facts.calls import Call, Disposition
from compile_ledger.facts.codec import FORMAT, SUFFIX, VERSION, encode
from compile_ledger.facts.compile import Compile
from compile_ledger.facts.contract import Contract
from compile_ledger.facts.place import Raised
from compile_ledger.facts.region import CodeObject, Region
from compile_ledger.judge.ledger import judge
from compile_ledger.render import form


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "not a ledger"),
        ("[]", "not a ledger"),
        ("{}", "not a ledger"),
        ('{"schema_version": "99.0"}', "use the compile-ledger that wrote it"),
        ('{"schema_version": "1.0"}', "damaged ledger"),
        ("[" * 5000, "not a ledger"),
    ],
)
def test_a_file_that_is_no_ledger_is_named_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: str, said: str
) -> None:
    (tmp_path / "ledger.json").write_text(content)
    assert main(["report", str(tmp_path)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("compile-ledger: ")
    assert said in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("name", ["absent.json", "."])
def test_a_missing_ledger_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    assert main(["report", str(tmp_path / name)]) == 2
    err = capsys.readouterr().err
    assert "no ledger.json: give" in err or "absent.json does not exist: give" in err
    assert err.count("\n") == 1


def test_a_page_that_cannot_be_written_is_told_before_anything_is_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "absent" / "report.html"
    assert main(["report", "--html", str(page), str(tmp_path)]) == 2
    assert "is not a folder that you may write to" in capsys.readouterr().err


def test_a_page_that_fails_at_the_end_leaves_the_result_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> int:
        raise OSError(28, "No space left on device")

    (tmp_path / "ledger.json").write_bytes(form("json")(judge({}, Contract(), tool_version="0")))
    monkeypatch.setattr(Path, "write_text", full)
    page = tmp_path / "report.html"
    assert main(["report", "--json", "--html", str(page), str(tmp_path)]) == 2
    out, err = capsys.readouterr()
    assert out == (tmp_path / "ledger.json").read_text()
    assert "No space left" in err


def test_a_folder_of_recordings_names_the_command_that_reads_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / f"a{SUFFIX}").touch()
    assert main(["report", str(tmp_path)]) == 2
    assert f"it holds recordings: compile-ledger read {tmp_path}\n" in capsys.readouterr().err


def test_a_program_that_leaves_early_is_told_what_that_costs() -> None:
    arm = Arm("eager", status="stopped", why="the program ended itself with os._exit(0)")
    ledger = judge({"eager": arm}, Contract(), tool_version="0")
    said = output.note(ledger)
    assert said.startswith(f"{arm.why}, so what is measured at the end")
    assert said.endswith("let it end as usual, or with sys.exit")
    assert output.note(judge({}, Contract(), tool_version="0")) == ""


REASON = "0/0: tensor 'x' size mismatch at index 0. expected 2, actual 3"


def _keep(folder: Path, name: str, *facts: object) -> None:
    path = folder / "arms" / name / f"arm{SUFFIX}"
    path.parent.mkdir(parents=True)
    whole = (Header(FORMAT, VERSION, "test", 1, arm=name), *facts, Goodbye("finished"))
    path.write_bytes(b"".join(encode(fact, number) for number, fact in enumerate(whole)))


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    region, code = Region(0, "scale", root=0), CodeObject(0, "scale", "serve.py", 3)
    eager = [Call(0, n, cpu_ns=1_000_000) for n in range(3)]
    _keep(tmp_path, "eager", region, *eager)
    kinds: tuple[Disposition, ...] = ("compiled", "recompiled", "reused")
    compiled = [
        Call(0, n, kind, cpu_ns=5_000_000, graphs=1, sizes={"x": (2 + n % 2,)}, runs={"0:0/0": 1})
        for n, kind in enumerate(kinds)
    ]
    made = [
        Compile(0, "compiled", "0/0", region=0, call=0, graph_ops=1),
        Compile(0, "recompiled", "0/1", region=0, call=1, reasons=(REASON,), graph_ops=1),
    ]
    _keep(tmp_path, "capture", region, code, *made, *compiled)
    return tmp_path


def test_calls_are_shown_one_by_one(kept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(kept), "--calls"]) == 0
    out = capsys.readouterr().out
    assert "refused by 0/0: x axis 0 is 3, not 2" in out
    assert "total: eager 3.00 ms, compiled 15.0 ms (CPU)" in out
    assert all(len(line) <= 80 for line in out.splitlines())


def test_guards_are_shown_as_the_runtime_words_them(
    kept: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["report", str(kept), "--calls", "--guards"]) == 0
    assert REASON in capsys.readouterr().out


def test_calls_are_given_as_json(kept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(kept), "--calls", "--json"]) == 0
    (table,) = json.loads(capsys.readouterr().out)
    assert [call["disposition"] for call in table["calls"]] == ["compiled", "recompiled", "reused"]
    assert table["eager_ns"] == 3_000_000


def test_what_keeps_no_call_apart_says_what_does(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["report", str(tmp_path), "--calls"]) == 2
    assert "give the folder that audit -o kept" in capsys.readouterr().err


@pytest.fixture
def failing(tmp_path: Path) -> Path:
    """A ledger in which a level fails, as a file."""
    raised = Arm("eager", status="raised", raised=Raised("ValueError", "bad"))
    found = judge({"eager": raised}, Contract(), tool_version="0")
    (tmp_path / "ledger.json").write_bytes(form("json")(found))
    return tmp_path


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="needs a device that is full")
@pytest.mark.parametrize("how", [[], ["--json"], ["--md"]])
@pytest.mark.parametrize("closed", ["pipe", "full", "shut"])
def test_stdout_that_is_closed_changes_neither_files_nor_exit_code(
    failing: Path, how: list[str], closed: str
) -> None:
    to = {"pipe": "| true; exit ${PIPESTATUS[0]}", "full": "> /dev/full", "shut": ">&-"}[closed]
    words = [sys.executable, "-m", "compile_ledger", "report", str(failing), *how]
    line = f"{shlex.join(words)} --html {shlex.quote(str(failing / 'page.html'))} {to}"
    done = subprocess.run(["/bin/bash", "-c", line], capture_output=True, text=True, check=False)
    assert done.returncode == 1, "a level fails"
    assert (failing / "page.html").read_text(encoding="utf-8").rstrip().endswith("</html>")
    said = "compile-ledger: the report could not be printed: No space left on device\n"
    assert done.stderr == (said if closed == "full" else "")
