import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def scoring() -> ModuleType:
    loaded("score_fields")
    return loaded("score_cases")


def loaded(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / f"benchmarks/{name}.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # the other one imports it, dataclasses look it up
    spec.loader.exec_module(module)
    return module


def audited(
    level: str | None, compiles: list[int], **rest: Any
) -> subprocess.CompletedProcess[str]:
    ledger = {
        "diagnosis": level and {"level": level},
        "code_objects": [{"compiles": number} for number in compiles],
        "levels": [{"level": name, "status": "not_measured"} for name in ("CORRECT", "WORTH_IT")],
    }
    known = {"returncode": 1 if level else 0, "stdout": json.dumps(ledger), "stderr": ""}
    return subprocess.CompletedProcess([], **{**known, **rest})


def test_a_right_answer_has_nothing_to_say(scoring: ModuleType) -> None:
    case = scoring.Case(Path("02"), "build", "STABLE", 7)
    score = scoring.read_score(case, audited("STABLE", [8, 1]), 1.0)
    assert score.level_right
    assert score.recompiles_right
    assert score.why == ""


def test_a_level_that_was_not_asked_is_told_from_a_wrong_one(scoring: ModuleType) -> None:
    case = scoring.Case(Path("48"), "build", "CORRECT", 0)
    score = scoring.read_score(case, audited(None, [1]), 1.0)
    assert not score.level_right
    assert score.why == "level None, expected CORRECT (not measured at this depth)"


@pytest.mark.parametrize(
    ("rest", "internal"),
    [
        ({"returncode": -9}, True),
        ({"returncode": 0, "stdout": "hello"}, True),
        ({"returncode": 1, "stderr": "Traceback (most recent call last):\nKeyError: 1"}, True),
        ({"returncode": 2, "stdout": "", "stderr": "no such file"}, False),
    ],
)
def test_faults_of_ours_are_counted_apart(
    scoring: ModuleType, rest: dict[str, Any], *, internal: bool
) -> None:
    case = scoring.Case(Path("x"), "main", None, 0)
    score = scoring.read_score(case, audited(None, [1], **rest), 1.0)
    assert bool(score.error) == internal
    assert not score.level_right


def test_a_ledger_is_read_even_where_the_exit_status_is_2(scoring: ModuleType) -> None:
    case = scoring.Case(Path("75"), "build", "RUNS", 0)
    assert scoring.read_score(case, audited("RUNS", [], returncode=2), 1.0).why == ""


def test_cases_are_found_with_their_entry(scoring: ModuleType, tmp_path: Path) -> None:
    for name, source in (("01_a", "def build(): ..."), ("02_b", "def main(): ...")):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "case.py").write_text(source)
        expected = {"first_failing_level": None, "measured": {"recompiles": 1}}
        (folder / "expect.json").write_text(json.dumps(expected))
    assert [case.entry for case in scoring.find_cases(tmp_path, [])] == ["build", "main"]
    assert [case.folder.name for case in scoring.find_cases(tmp_path, ["02"])] == ["02_b"]
