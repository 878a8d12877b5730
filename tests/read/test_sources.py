"""The text of a line, from the file as it ran."""

from __future__ import annotations

import time
from pathlib import Path

from compile_ledger.facts.arm import Arm, Header
from compile_ledger.facts.place import Place
from compile_ledger.read.sources import sources


def _arm(began_ns: int) -> Arm:
    return Arm("capture", header=Header("f", 1, "test", 1, started_unix_ns=began_ns))


def test_a_line_is_quoted_from_the_file_that_ran(tmp_path: Path) -> None:
    file = tmp_path / "serve.py"
    file.write_text("import torch\n    x = f(" + "1, " * 200 + ")\n")
    of = sources([_arm(time.time_ns() + 10**9)])
    assert of(Place(str(file), 1)) == "import torch"
    assert of(Place(str(file), 2)).startswith("x = f(1, 1")
    assert len(of(Place(str(file), 2))) == 200
    assert of(Place(str(file), 9)) == ""


def test_a_file_that_was_written_since_or_is_not_here_has_no_text(tmp_path: Path) -> None:
    file = tmp_path / "later.py"
    file.write_text("import torch\n")
    assert sources([_arm(1)])(Place(str(file), 1)) == ""
    assert sources([])(Place(str(file), 1)) == ""
    assert sources([_arm(time.time_ns())])(Place(str(tmp_path / "absent.py"), 1)) == ""
    assert sources([_arm(time.time_ns())])(Place("<string>", 1)) == ""
