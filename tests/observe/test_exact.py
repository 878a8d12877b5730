"""Every count is what a counting backend saw."""

import dataclasses
import json
from collections import Counter
from pathlib import Path

import pytest

from compile_ledger.facts.arm import Arm
from compile_ledger.judge.stable.silent import silent_on
from compile_ledger.judge.view import look
from compile_ledger.read.recording import read_arm

from .support import Run, arms, assert_silent

CALLS = {"several": 20_000, "broken": 10_000, "outer": 5_000, "limited": 10_000}


def code_named(arm: Arm, name: str) -> int:
    return next(c.id for c in arm.code_objects if c.name == name)


def outcomes(arm: Arm, name: str) -> Counter[str]:
    code = code_named(arm, name)
    return Counter(c.outcome for c in arm.compiles if c.code_object == code)


def silent(arm: Arm, name: str, calls: int) -> int:
    """Calls that no entry took and that Dynamo never saw: a race can hit a limit anywhere."""
    assert arm.counters
    code = code_named(arm, name)
    served = sum(e.runs for e in arm.counters.entries if e.code_object == code)
    return calls - served - sum(c.code_object == code and not c.kept for c in arm.compiles)


@pytest.mark.slow
@pytest.mark.parametrize(("threads", "timeline"), [(1, 0), (4, 0), (1, 500_000)])
def test_every_count(run: Run, tmp_path: Path, threads: int, timeline: int) -> None:
    done = run("exact.py", str(tmp_path / "out"), str(threads), str(timeline))
    truth = json.loads(done.stdout)
    arm = read_arm(Path(truth["path"]))
    assert not arm.lost
    assert not arm.damage
    assert arm.counters
    counters = arm.counters

    names = {region.id: region.target for region in arm.regions}
    assert {names[r.region]: r.calls for r in counters.regions} == CALLS
    assert {e.compile_id: e.runs for e in counters.entries} == truth["runs"]

    expected = {name: silent(arm, name, calls) for name, calls in CALLS.items()}
    assert expected["broken"] == expected["outer"] == 0
    assert expected["limited"] > 0
    assert_silent(arm, sum(expected.values()), threads)
    told = look(dataclasses.replace(arm, calls=()))
    attributed = {code_named(arm, name): number for name, number in expected.items() if number}
    if counters.silent is not None:
        assert {code: silent_on(told, code) for code in attributed} == attributed
    if threads == 1:
        assert expected == {"several": 0, "broken": 0, "outer": 0, "limited": 3331}
        assert outcomes(arm, "limited") == {"compiled": 1, "recompiled": 7, "refused": 1}
        assert outcomes(arm, "several") == {"compiled": 1, "recompiled": 3}
        mine = code_named(arm, "limited")
        assert [c.call for c in arm.compiles if c.code_object == mine] == list(range(9))
    if timeline:
        assert Counter(c.region for c in arm.calls) == {0: 20_000, 1: 10_000, 2: 5_000, 3: 10_000}
        seen = Counter((names[c.region], c.disposition) for c in arm.calls)
        assert seen["limited", "fell_back"] == expected["limited"]
        assert (seen["limited", "refused"], seen["limited", "recompiled"]) == (1, 7)
        assert seen["several", "reused"] == 20_000 - 4
        # A call inside another counts for both.
        assert sum(sum(c.runs.values()) for c in arm.calls) == sum(truth["runs"].values()) + 5_000


NUMBERS = """
import threading, torch, compile_ledger
config = torch._dynamo.config
name = "recompile_limit" if hasattr(config, "recompile_limit") else "cache_size_limit"
setattr(config, name, 64)
def function(x):
    return x + 1
compiled = torch.compile(function, backend="eager", dynamic=False)
own = torch.compile(lambda x: x - 1, backend="eager")
def other():
    while not done:
        own(torch.ones(2))
done = []
with compile_ledger.record("out"):
    thread = threading.Thread(target=other)
    thread.start()
    for size in range(2, 10):
        for _ in range(101):
            compiled(torch.ones(size))
    done.append(True)
    thread.join()
"""


def test_every_compile_knows_the_number_of_its_call(run: Run, tmp_path: Path) -> None:
    run("-c", NUMBERS)
    (arm,) = arms(tmp_path / "out")
    number = next(region.id for region in arm.regions if region.target == "function")
    found = [event.call for event in arm.compiles if event.region == number]
    assert found == [101 * block for block in range(8)]
