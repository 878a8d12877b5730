"""Each field that a case states, against a ledger made by hand."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

PATH = Path(__file__).parents[2] / "benchmarks/score_fields.py"
EXPECTED: dict[str, Any] = {
    "mechanism": "python_value_guard",
    "evidence": {"name": "stop", "expected": 4, "first_fallback_call": 8, "guard": "stop == 4"},
    "measured": {"recompiles": 7, "calls_without_compiled_code": 3, "per_call_graph_runs": [1, 0]},
    "smallest_experiment": {"change": "no loop"},
}


@pytest.fixture(scope="module")
def scoring() -> ModuleType:
    spec = importlib.util.spec_from_file_location("score_fields", PATH)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def ledger(**changes: Any) -> dict[str, Any]:
    finding = {
        "id": "f",
        "slug": "recompile-constant-int",
        "subject": "stop",
        "axis": None,
        "expected": "4",
        "actual": "5",
        "first_call": 1,
        "sentence": "recompiles on a Python int: stop (4, 5, 6, ...)",
        "evidence": [{"text": "0/0: stop == 4"}],
        "site": None,
        "guarded": None,
    }
    limit = {"id": "l", "slug": "cache-limit", "first_call": 8}
    row = {"compiles": 8, "attempts": 9, "graphs": 8, "graph_runs": 9, "limit": {}}
    return {
        "diagnosis": {"finding": "f", "slug": finding["slug"]},
        "findings": [finding, limit],
        "code_objects": [row],
        "regions": [{"dispositions": dict.fromkeys(EAGER, 0) | {"refused": 1, "fell_back": 2}}],
        "arms": [{"name": "capture", "calls": [{"graphs": 1}, {"graphs": 0}]}],
        "breaks": [],
        "experiments": [],
        "levels": [{"level": "STABLE", "status": "holds", "why": "settled after 1 recompile: x"}],
        "verdict": "",
        **changes,
    }


EAGER = ("refused", "fell_back", "switched_off", "skipped", "raised")


def states(scoring: ModuleType, expected: dict[str, Any], **changes: Any) -> dict[str, str]:
    found = scoring.compare_fields(expected, ledger(**changes))
    return {one.name: one.state for one in found}


def test_what_the_ledger_has_as_stated_is_equal(scoring: ModuleType) -> None:
    found = states(scoring, EXPECTED)
    assert found.pop("smallest_experiment") == "absent"
    assert set(found.values()) == {"equal"}
    assert len(found) == 8


def test_another_mechanism_and_another_count_differ(scoring: ModuleType) -> None:
    expected = {**EXPECTED, "mechanism": "shape_guard", "measured": {"recompiles": 8}}
    found = states(scoring, expected)
    assert (found["mechanism"], found["recompiles"]) == ("differs", "differs")


def test_what_the_arm_did_not_count_is_absent(scoring: ModuleType) -> None:
    assert states(scoring, EXPECTED, arms=[])["per_call_graph_runs"] == "absent"


def test_what_is_stated_in_words_is_left_to_the_eye(scoring: ModuleType) -> None:
    expected = {**EXPECTED, "evidence": {"expected": "each earlier length", "cause": "a loop"}}
    found = states(scoring, expected)
    assert (found["expected"], found["cause"]) == ("prose", "prose")


@pytest.mark.parametrize(("number", "state"), [(1, "equal"), (2, "differs")])
def test_how_often_it_recompiled_before_it_settled_is_compared(
    scoring: ModuleType, number: int, state: str
) -> None:
    stated = f"STABLE holds: it settles after {number} recompile(s)"
    assert states(scoring, {**EXPECTED, "observation": stated})["observation"] == state
