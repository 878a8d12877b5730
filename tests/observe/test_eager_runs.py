"""Eager runs past a limit, and runs of earlier entries, as the interpreter counts them."""

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from compile_ledger.facts.arm import Arm
from compile_ledger.judge.captured.graphs import graphs_per_call
from compile_ledger.judge.stable.silent import counted_on, silent_on
from compile_ledger.judge.view import look
from compile_ledger.read.recording import read_arm

from .support import Run, arms, assert_silent

COUNTS = hasattr(sys, "monitoring")
needs_monitoring = pytest.mark.skipif(not COUNTS, reason="sys.monitoring needs Python 3.12")


def why_absent(arm: Arm) -> str:
    """Why the instrument is not there; empty where it is."""
    return next(c.why for c in arm.capabilities if c.name == "eager-runs")


def served(run: Run, tmp_path: Path, *args: str) -> tuple[Arm, dict[str, Any]]:
    """The recording of ``eager.py``, and what its frames counted themselves."""
    truth = json.loads(run("eager.py", str(tmp_path / "out"), *args).stdout)
    return read_arm(Path(truth["path"])), truth


def codes(arm: Arm, name: str) -> set[int]:
    """Code objects of a function of ``eager.py``; a reset makes resume functions anew."""
    if name == "resume":
        return {c.id for c in arm.code_objects if c.resume_of == "outer"}
    return {c.id for c in arm.code_objects if c.name == name}


def announced(arm: Arm, name: str) -> int:
    """Eager runs that Dynamo was asked about first."""
    return sum(c.code_object in codes(arm, name) and not c.kept for c in arm.compiles)


@pytest.mark.parametrize("threads", [1, 4])
def test_each_frame_past_its_limit_is_counted(run: Run, tmp_path: Path, threads: int) -> None:
    arm, truth = served(run, tmp_path, str(threads))
    assert not arm.lost
    assert arm.counters
    limited = {name: truth["eager"][name] for name in ("limited", "inner", "resume")}
    assert all(limited.values())
    assert truth["eager"]["healthy"] == 0
    silent = {name: number - announced(arm, name) for name, number in limited.items()}
    assert_silent(arm, sum(silent.values()), threads)
    if not COUNTS:
        assert why_absent(arm) == "sys.monitoring needs Python 3.12"
        assert arm.counters.eager == ()
        return
    assert why_absent(arm) == ""
    runs = Counter({e.code_object: e.runs for e in arm.counters.eager})
    assert {name: sum(runs[code] for code in codes(arm, name)) for name in limited} == limited
    assert sum(runs.values()) == sum(limited.values())
    view = look(arm)
    told = {name: [silent_on(view, code) or 0 for code in codes(arm, name)] for name in silent}
    assert {name: sum(numbers) for name, numbers in told.items()} == silent
    (code,) = codes(arm, "healthy")
    assert counted_on(view, code) is None
    assert set(truth["tools"]) == {None}


def events(arm: Arm) -> list[Any]:
    names = {c.id: (c.name, c.line) for c in arm.code_objects}
    return [
        (names[c.code_object], c.outcome, c.compile_id, c.guards, c.entries_before, c.reasons)
        for c in arm.compiles
    ]


def test_dynamo_does_the_same_without_it(run: Run, tmp_path: Path) -> None:
    arm, _ = served(run, tmp_path / "a", "1")
    other, truth = served(run, tmp_path / "b", "1", *(["taken"] if COUNTS else []))
    assert events(other) == events(arm)
    assert arm.counters
    assert other.counters
    assert [e.runs for e in other.counters.entries] == [e.runs for e in arm.counters.entries]
    assert other.counters.silent == arm.counters.silent
    assert other.counters.eager == ()
    if COUNTS:
        assert set(truth["tools"]) == {"other"}
        assert why_absent(other) == "sys.monitoring has no free tool id: 3 to 5 are in use"


EARLIER = """
import torch, compile_ledger
def function(x):
    return x + 1
def broken(x):
    y = x * 2
    torch._dynamo.graph_break()
    return y - 1
def full(x):
    return x / 2
compiled = torch.compile(function, backend="eager", dynamic=False)
breaks = torch.compile(broken, backend="eager", dynamic=False)
limited = torch.compile(full, backend="eager", dynamic=False)
x = [torch.ones(size) for size in range(2, 14)]
for size in (0, 1):
    compiled(x[size]), breaks(x[size])
for size in range(10):
    limited(x[size])
for name in ("a", "b"):
    compiled(x[0])
    with compile_ledger.record(name):
        for size in (0, 0, 0, 1, 2):
            compiled(x[size])
        for size in (0, 1, 1):
            breaks(x[size])
        for size in (0, 9, 10, 11):
            limited(x[size])
"""


@needs_monitoring
def test_entries_from_before_are_counted_from_the_start_on(run: Run, tmp_path: Path) -> None:
    run("-c", EARLIER)
    for folder in ("a", "b"):
        (arm,) = arms(tmp_path / folder)
        assert arm.counters
        (table,) = (c for c in arm.capabilities if c.name == "entries-before")
        assert (table.present, table.why) == (True, "")
        names = {c.id: c.name for c in arm.code_objects}
        runs: dict[str, list[int]] = {}
        for entry in arm.counters.entries:
            runs.setdefault(names[entry.code_object], []).append(entry.runs)
        assert sorted(runs["function"]) == [1, 1, 3]
        assert sorted(runs["broken"]) == [1, 2]
        assert sum(runs["full"]) == 1
        assert_silent(arm, 3)
        full = next(number for number, name in names.items() if name == "full")
        assert [(e.code_object, e.silent) for e in arm.counters.eager] == [(full, 3)]
        assert {c.uncounted for c in arm.code_objects} == {0}
        # Which region a resume function's entries serve was not seen.
        assert graphs_per_call(look(arm), 0) is None


FORK = """
import os, torch, compile_ledger
def full(x):
    return x / 2
limited = torch.compile(full, backend="eager", dynamic=False)
x = [torch.ones(size) for size in range(2, 16)]
compile_ledger.start("out", interval=0.1)
for number in range(12):
    limited(x[number])
child = os.fork()
if child:
    os.waitpid(child, 0)
else:
    for number in range(14):
        limited(x[number])
    compile_ledger.stop()
    os._exit(0)
limited(x[12])
"""


@needs_monitoring
def test_a_forks_child_counts_its_own(run: Run, tmp_path: Path) -> None:
    run("-c", FORK)
    found = {bool(a.header and a.header.forked_from): a for a in arms(tmp_path / "out")}
    seen = {forked: arm.counters and arm.counters.eager for forked, arm in found.items()}
    numbers = {forked: [(e.runs, e.silent) for e in rows or ()] for forked, rows in seen.items()}
    assert numbers == {False: [(5, 4)], True: [(6, 6)]}


GONE = """
import torch, compile_ledger
class Double:
    def __call__(self, x):
        return x * 2
compiled = [torch.compile(f, backend="eager") for f in (Double(), torch.sin)]
for each in compiled:
    each(torch.ones(4))
with compile_ledger.record("out"):
    for each in compiled:
        each(torch.ones(4))
"""


def test_targets_without_a_function_of_their_own_lose_nothing(run: Run, tmp_path: Path) -> None:
    run("-c", GONE)
    (arm,) = arms(tmp_path / "out")
    assert not arm.lost
    assert arm.counters
    assert [r.calls for r in arm.counters.regions] == [1, 1]
    assert sum(e.runs for e in arm.counters.entries) == (2 if COUNTS else 0)
