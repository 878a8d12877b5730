"""The live view survives whatever happens to the files that it shows."""

import io
import os
import pty
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from compile_ledger.commands.watch import frame
from compile_ledger.facts.arm import Goodbye, Header
from compile_ledger.facts.calls import Counters, EntryRuns, RegionCalls
from compile_ledger.facts.codec import FORMAT, encode
from compile_ledger.facts.compile import Compile
from compile_ledger.facts.place import Place
from compile_ledger.facts.region import CodeObject, Region
from compile_ledger.read.live import Folder

HEADER = Header(FORMAT, 1, "0", os.getpid(), rank=0)
REGION = Region(0, "embed", site=Place("serve.py", 7))
CODE = CodeObject(0, "embed", "serve.py", 3)


def compiled(number: int, outcome: str = "recompiled") -> Compile:
    why = {"limit": "recompile_limit", "limit_value": 2} if outcome == "refused" else {}
    return Compile(0, outcome, f"0/{number}", 0, number, number, (f"size {number}",), **why)  # type: ignore[arg-type]


def counters(at: float, calls: int, silent: int = 0) -> Counters:
    return Counters(
        int(at * 1e9), (RegionCalls(0, calls),), (EntryRuns(0, "0/0", calls),), calls, silent
    )


def text(folder: Folder) -> str:
    console = Console(file=io.StringIO(), width=140)
    console.print(frame(folder))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def append(path: Path, *facts: object) -> None:
    with path.open("ab") as stream:
        stream.writelines(encode(fact) for fact in facts)


def test_an_empty_folder_then_a_process_then_its_end(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    assert "no recording yet" in text(folder)
    path = tmp_path / "rank0-pid1.ledger.jsonl"
    append(path, HEADER, REGION, CODE, compiled(0, "compiled"), counters(1, 10))
    assert "running" in text(folder)
    append(path, compiled(1), compiled(2, "refused"), counters(2, 110, 7))
    shown = text(folder)
    assert "7 ran eagerly, unannounced" in shown
    assert "embed serve.py:7    110    100  2 of 2" in shown
    assert "1 compiled, 1 recompiled, 100 reused, 1 refused, 7 fell back" in shown
    assert "last: refused embed in call 2: recompile_limit hit: size 2" in shown
    append(path, Goodbye("finished"))
    assert "rank 0, pid" in text(folder)
    assert ": finished" in text(folder)


def test_a_full_line_is_a_warning_before_a_call_is_refused(tmp_path: Path) -> None:
    folder, path = Folder(tmp_path), tmp_path / "a.ledger.jsonl"
    size = "0/0: tensor 'x' size mismatch at index 0. expected 2, actual 3"
    grown = replace(compiled(1), reasons=(size,))
    append(path, HEADER, replace(REGION, recompile_limit=3), CODE, compiled(0, "compiled"))
    append(path, grown, counters(1, 10))
    assert (
        "warning: embed: the next new length of x (axis 0) takes the last free entry, and the one "
        "after it will run eagerly: 2 of 3 entries are used"
    ) in text(folder).replace("\n", "")
    append(path, replace(grown, outcome="refused", limit="recompile_limit", limit_value=3))
    assert "warning" not in text(folder)


def test_half_a_line_waits_for_its_rest(tmp_path: Path) -> None:
    folder, path = Folder(tmp_path), tmp_path / "a.ledger.jsonl"
    append(path, HEADER, REGION)
    line = encode(counters(1, 5))
    with path.open("ab") as stream:
        stream.write(line[:20])
    assert "     0" in text(folder)
    with path.open("ab") as stream:
        stream.write(line[20:])
    assert "     5" in text(folder)


def test_a_replaced_file_is_read_anew_and_a_removed_one_forgotten(tmp_path: Path) -> None:
    folder, path = Folder(tmp_path), tmp_path / "a.ledger.jsonl"
    append(path, HEADER, REGION, counters(1, 5))
    assert "     5" in text(folder)
    path.rename(tmp_path / "old")
    append(path, HEADER, REGION, counters(1, 3))
    assert "     3" in text(folder)
    path.unlink()
    assert "no recording yet" in text(folder)


def test_a_dead_process_is_said_to_have_gone(tmp_path: Path) -> None:
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    append(tmp_path / "a.ledger.jsonl", Header(FORMAT, 1, "0", child.pid), REGION)
    assert "ended without a goodbye" in text(Folder(tmp_path))


def test_q_ends_the_live_view(tmp_path: Path) -> None:
    append(tmp_path / "a.ledger.jsonl", HEADER, REGION, counters(1, 5))
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "compile_ledger", "watch", str(tmp_path)]
    child = subprocess.Popen(command, stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        for _ in range(40):  # A key that comes before the view is there is lost.
            time.sleep(0.5)
            if child.poll() is not None:
                break
            os.write(ours, b"q")
        out, err = child.communicate(timeout=20)
    finally:
        child.kill()
        os.close(ours)
        os.close(theirs)
    assert (child.returncode, err) == (0, b"")
    assert b"embed" in out


def test_once_prints_one_frame(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "compile_ledger", "watch", "--once", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "no recording yet" in " ".join(done.stdout.split())


def test_once_says_that_there_is_no_such_path(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "compile_ledger", "watch", "--once", str(tmp_path / "absent")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert "absent does not exist: give the folder that record writes to\n" in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_path_that_is_not_there_yet_is_waited_for_and_said_once(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "compile_ledger", "watch", str(tmp_path / "later")]
    child = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    time.sleep(2.0)
    assert child.poll() is None
    child.send_signal(signal.SIGINT)
    _, err = child.communicate(timeout=20)
    said = "later, which does not exist yet"
    assert (child.returncode, err.count(said), err.count("\n")) == (0, 1, 1)


def test_what_is_no_recording_is_said_so_and_escaped(tmp_path: Path) -> None:
    (tmp_path / "a.ledger.jsonl").write_bytes(b"\x00\x01\n" * 9)
    (tmp_path / "b.ledger.jsonl").touch()
    os.mkfifo(tmp_path / "c.ledger.jsonl")
    append(tmp_path / "d.ledger.jsonl", HEADER, Region(0, "\x1b[31mred\x07"), counters(1, 3))
    shown = text(Folder(tmp_path))
    assert "a.ledger.jsonl: no compile-ledger recording, 9 lines not read" in shown
    assert "b.ledger.jsonl: nothing written yet" in shown
    assert "\x1b" not in shown
    assert r"\x1b[31mred" in shown


def test_what_comes_after_a_line_that_is_too_long_is_read(tmp_path: Path) -> None:
    folder, path = Folder(tmp_path), tmp_path / "a.ledger.jsonl"
    append(path, HEADER, REGION)
    with path.open("ab") as stream:
        stream.write(b"x" * 9_000_000)
    text(folder)
    with path.open("ab") as stream:
        stream.write(b"x" * 100 + b"\n" + encode(counters(1, 77)))
    shown = text(folder)
    assert "77" in shown
    assert "1 line not read" in shown


def test_running_processes_come_first_and_the_rest_is_counted(tmp_path: Path) -> None:
    for number in range(9):
        ended = (Goodbye("finished"),) if number != 4 else ()
        name = f"pid{number}.ledger.jsonl"
        append(tmp_path / name, HEADER, Region(0, f"of{number}"), counters(1, 1), *ended)
    console = Console(file=io.StringIO(), width=80)
    console.print(frame(Folder(tmp_path), 24))
    assert isinstance(console.file, io.StringIO)
    shown = console.file.getvalue()
    assert shown.index("of4") < min(
        shown.index(f"of{n}") for n in range(9) if f"of{n}" in shown and n != 4
    )
    assert "and 5 more processes" in shown
