"""A ledger agrees with itself; where it does not, it says so."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from compile_ledger.facts.cache_line import CodeLine, Count, Entry, LineReading
from compile_ledger.judge.consistency import contradictions
from compile_ledger.judge.document import CodeObjectRow, Ledger, Limit, NextStep
from compile_ledger.judge.document import Entry as Made
from compile_ledger.judge.ledger import judge

from . import make


def healthy() -> Ledger:
    eager = make.arm("eager", regions=(make.region(),), calls=make.eager_calls(9))
    arms = make.arms(eager, make.healthy(name="capture"))
    return judge(arms, make.EAGER_BACKEND, tool_version="test")


def test_a_judged_ledger_agrees_with_itself() -> None:
    assert healthy().contradictions == ()


def code(**fields: Any) -> dict[str, Any]:
    return {"code_objects": (CodeObjectRow(0, "encode", "serve.py", 9, 1, 1, 1, **fields),)}


def line(compile_id: str, runs: int) -> LineReading:
    return LineReading(
        0, CodeLine("encode", "serve.py", 9, entries=(Entry(compile_id, runs=Count(runs)),))
    )


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"next_step": NextStep("x")}, "no level fails"),
        (code(limit=Limit("recompile_limit", 8)), "hit recompile_limit"),
        ({"code_objects": ()}, "no code object has a graph"),
        (
            {**code(cache_line=(Made("0/0", 3),)), "cache_lines": (line("0/0", 4),)},
            "ran 3 or 4 times",
        ),
        (
            {**code(cache_line=(Made("0/0", 3),)), "cache_lines": (line("0/1", 4),)},
            "holds 0/1, which nobody compiled",
        ),
    ],
)
def test_what_disagrees_is_named(change: dict[str, Any], said: str) -> None:
    found = contradictions(replace(healthy(), **change))
    assert [one for one in found if said in one], found


def test_calls_that_fell_back_are_not_stable() -> None:
    whole = healthy()
    region = replace(whole.regions[0], dispositions={"reused": 7, "fell_back": 2})
    found = contradictions(replace(whole, regions=(region,)))
    assert "STABLE holds, and 2 calls of region 0 were refused a graph" in found


def test_a_level_that_fails_has_a_failure() -> None:
    whole = healthy()
    levels = (replace(whole.levels[0], status="fails"), *whole.levels[1:])
    found = contradictions(replace(whole, levels=levels))
    assert "RUNS fails, and its findings say otherwise" in found
    assert "the diagnosis names None, the first level that fails is RUNS" in found
