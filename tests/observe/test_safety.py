"""The recorder never harms its program."""

import re
import sys
from pathlib import Path

import pytest

from .support import Run, arms

_ADDRESS = re.compile(r"0x[0-9a-f]+")


@pytest.mark.slow
def test_thousands_of_interrupts(run: Run, tmp_path: Path) -> None:
    bare = run("storm.py", "-", "0")
    for timeline in ("0", "1000"):
        done = run("storm.py", str(tmp_path / timeline), timeline)
        assert int(done.stdout) == 3000
        # torch 2.6 itself says on stderr that it fails as the interpreter ends.
        assert _ADDRESS.sub("", done.stderr) == _ADDRESS.sub("", bare.stderr)
        (arm,) = arms(tmp_path / timeline)
        assert arm.status == "finished"
        assert not arm.lost
        limited = {c.code_object for c in arm.compiles if c.outcome == "refused"}
        assert len(limited) == 1
        counted = {e.code_object for e in arm.counters.eager if e.silent} if arm.counters else ()
        assert counted == (limited if hasattr(sys, "monitoring") else set())


def test_each_hook_may_fail(run: Run, tmp_path: Path) -> None:
    done = run("faults.py", str(tmp_path / "out"))
    lost = {
        name: (int(count), set(where))
        for name, count, *where in map(str.split, done.stdout.splitlines())
    }
    assert len(lost) == 26
    sees = {c.name for c in arms(tmp_path / "out")[0].capabilities if c.present}
    if "stance" not in sees:
        del lost["next"]
    if "eager-runs" not in sees:
        del lost["note_miss"], lost["add_refused"], lost["read"]
    assert all(count > 0 for count, _ in lost.values()), lost
    assert lost["current"][1] == {
        "automatic_dynamic",
        "break_cause",
        "compile_metrics",
        "graph_break",
        "limit",
        "recompile_reasons",
        "symbol",
    }
