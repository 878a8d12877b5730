"""What the guard lookup alone takes: entries asked in vain, and times by side."""

import contextlib
from pathlib import Path
from typing import Any

import pytest
import torch

from compile_ledger.experiment import guard_cost, plan
from compile_ledger.experiment.targets import parse_target
from compile_ledger.facts.timing import GuardLookup

from .support import arms


@pytest.fixture(autouse=True)
def _fresh_dynamo() -> Any:
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


def scale(x: torch.Tensor, by: int) -> torch.Tensor:
    return x * by


def asked(*bys: int, made: tuple[int, ...] = (1, 2, 3)) -> tuple[Any, GuardLookup]:
    compiled = torch.compile(scale, backend="eager", dynamic=False)
    for by in made:
        compiled(torch.ones(3), by)
    calls: list[Any] = [((torch.ones(3), by), {}, contextlib.nullcontext) for by in bys]
    return compiled, guard_cost.guard_lookup(0, compiled, calls, seed=0)


def refusals(compiled: Any) -> list[int | None]:
    from compile_ledger import cache_line

    return [entry.rejections.value for entry in cache_line(compiled).root.entries]


def test_one_entry_that_takes_every_call() -> None:
    _, found = asked(1, made=(1,))
    assert (found.entries, found.before, found.taken) == (1, 0.0, 1.0)
    assert len(found.took) == len(found.again) == len(found.nothing) == guard_cost.ROUNDS
    assert not found.refused
    assert sorted(found.took)[30] > sorted(found.nothing)[30] > 0


def test_calls_in_turn_find_their_entry_last() -> None:
    _, found = asked(1, 2, 3)
    assert (found.before, found.taken) == (2.0, 1.0)
    assert len(found.refused) == guard_cost.ROUNDS


def test_a_call_that_no_entry_takes_asks_them_all() -> None:
    _, found = asked(7)
    assert (found.before, found.taken, found.took) == (3.0, 0.0, ())
    assert len(found.refused) == len(found.again) == guard_cost.ROUNDS


def test_no_counter_of_the_runtime_moves_and_no_entry_changes_its_place() -> None:
    compiled = torch.compile(scale, backend="eager", dynamic=False)
    for by in (1, 2, 3):
        compiled(torch.ones(3), by)
    before = refusals(compiled)
    guard_cost.guard_lookup(0, compiled, [((torch.ones(3), 1), {}, contextlib.nullcontext)], 0)
    assert refusals(compiled) == before


def test_what_cannot_be_asked_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    _, empty = asked(1, made=())
    assert empty.why == "the root has no entry that could be asked"
    monkeypatch.delattr(torch._C._dynamo.guards, "RootGuardManager")
    _, old = asked(1)
    assert "RootGuardManager" in old.why


PROGRAM = """
import torch

@torch.compile(backend="eager", dynamic=False)
def scale(x, by):
    return x * by

for number in range(6):
    scale(torch.ones(3), 1 + number % 2)
"""


@pytest.mark.slow
def test_the_steady_arm_times_the_lookup(tmp_path: Path) -> None:
    path = tmp_path / "serve.py"
    path.write_text(PROGRAM)
    steady = arms(parse_target(str(path), ()), tmp_path, plan.steady)["steady"]
    (found,) = steady.guard_lookups
    assert steady.lost == ()
    assert (found.why, found.entries, found.before) == ("", 2, 1.0)
    assert len(found.took) == len(found.refused) == guard_cost.ROUNDS
