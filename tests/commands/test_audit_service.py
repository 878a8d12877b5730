"""The chapter's service, audited as its reader would: everything that it must show."""

from __future__ import annotations

import html
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from compile_ledger.render.json import json_schema

from .audit_cli import Done, command, level, statuses

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
SERVICE = ROOT / "examples" / "varlen_service.py"
LINE = next(
    number
    for number, line in enumerate(SERVICE.read_text().splitlines(), start=1)
    if "torch.compile(model" in line
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("service")


@pytest.fixture(scope="module")
def done(folder: Path) -> Done:
    """The default depth; two calls are compared, because each compiles for seconds."""
    given = ["-o", "kept", "--html", "report.html", "--compare", "2", "--json"]
    return command("audit", *given, SERVICE, cwd=folder)


@pytest.fixture(scope="module")
def document(done: Done) -> dict[str, Any]:
    return done.document


def test_a_failing_level_is_exit_code_1(done: Done) -> None:
    assert done.code == 1


def test_stdout_is_one_document_that_fits_the_schema(done: Done) -> None:
    jsonschema.validate(json.loads(done.out), json_schema())
    assert done.out.endswith("}\n")


def test_the_kept_ledger_is_the_printed_one(done: Done, folder: Path) -> None:
    assert (folder / "kept" / "ledger.json").read_text() == done.out


def test_runs_correct_and_captured_hold_before_stable_fails(document: dict[str, Any]) -> None:
    assert statuses(document) == {
        "RUNS": "holds",
        "CORRECT": "holds",
        "CAPTURED": "holds",
        "STABLE": "fails",
        "WORTH_IT": "not_measured",
    }
    assert document["unproven"] is None


def test_the_diagnosis_names_the_size_the_axis_and_the_line(document: dict[str, Any]) -> None:
    found = document["diagnosis"]
    assert (found["level"], found["slug"]) == ("STABLE", "recompile-shape")
    assert (found["subject"], found["axis"]) == ("idx", 1)
    assert (found["expected"], found["actual"]) == ("60", "63")
    assert (found["site"]["file"], found["site"]["line"]) == (str(SERVICE), LINE)
    assert "12 distinct lengths in 13 calls, 8 entries" in found["sentence"]


def test_the_thirteen_calls_have_the_chapters_dispositions(document: dict[str, Any]) -> None:
    capture = next(arm for arm in document["arms"] if arm["name"] == "capture")
    assert [call["disposition"] for call in capture["calls"]] == [
        "compiled",
        *["recompiled"] * 5,
        "reused",
        *["recompiled"] * 2,
        "refused",
        *["fell_back"] * 3,
    ]
    (region,) = document["regions"]
    assert (region["calls"], region["site"]["line"]) == (13, LINE)
    assert region["compile_kwargs"] == {"dynamic": "False"}
    counted = {name: n for name, n in region["dispositions"].items() if n}
    assert counted == {"compiled": 1, "recompiled": 7, "reused": 1, "refused": 1, "fell_back": 3}


def test_the_cache_line_has_eight_entries_and_the_limit_that_was_hit(
    document: dict[str, Any],
) -> None:
    (code,) = document["code_objects"]
    assert (code["compiles"], code["entries"], code["graphs"], code["graph_runs"]) == (8, 8, 8, 9)
    assert code["limit"] == {"name": "recompile_limit", "at_call": 9, "value": 8}
    assert len(code["recompile_reasons"]) >= 7
    slugs = {found["slug"] for found in document["findings"]}
    assert {"recompile-shape", "cache-limit", "silent-eager"} <= slugs


def test_compiled_outputs_are_compared_with_eager_and_with_fp64(document: dict[str, Any]) -> None:
    found = document["correctness"]
    assert (found["arm"], found["compared"], found["calls"]) == ("correct", 2, 2)
    assert found["max_abs"] < 1e-5
    assert found["stated_pass"] is True
    assert found["deterministic"] is True
    assert 0 < found["worst_ratio"] < 3


def test_one_graph_runs_per_call_and_nothing_breaks(document: dict[str, Any]) -> None:
    assert document["breaks"] == []
    assert "1 graph per" in level(document, "CAPTURED")["why"]


def test_the_default_policy_settles_with_two_compiles_so_the_diagnosis_holds(
    document: dict[str, Any],
) -> None:
    (row,) = document["experiments"]
    assert (row["name"], row["outcome"]) == ("default-policy", "holds")
    before, after = row["before"], row["after"]
    keys = ("compiles", "recompiles", "refused", "fell_back", "settled")
    assert [before[key] for key in keys] == [8, 7, 1, 3, False]
    assert [after[key] for key in keys] == [2, 1, 0, 0, True]
    assert row["sentence"].startswith("diagnosis holds: ")


def test_worth_it_is_not_judged_and_the_command_that_would_is_given(
    document: dict[str, Any],
) -> None:
    assert "STABLE failed first" in level(document, "WORTH_IT")["why"]
    missing = next(x for x in document["not_measured"] if "WORTH" in x["what"].upper())
    assert missing["command"].startswith("compile-ledger audit --full")
    assert str(SERVICE) in missing["command"]


def test_cheap_arms_run_first_and_the_dear_one_stops_after_what_it_compares(
    document: dict[str, Any],
) -> None:
    arms = document["arms"]
    assert [arm["name"] for arm in arms] == [
        "eager",
        "eager_again",
        "capture",
        "experiment:default-policy",
        "reference",
        "correct",
    ]
    assert [arm["status"] for arm in arms] == [*["finished"] * 5, "stopped"]
    assert [len(arm["calls"]) for arm in arms] == [13, 13, 13, 13, 13, 2]
    assert all(arm["cpu_seconds"] > 0 and not arm["lost"] for arm in arms)


def test_progress_and_the_provisional_diagnosis_go_to_stderr(done: Done) -> None:
    words = " ".join(done.err.split())
    assert words.index("capture 13 calls") < words.index("so far: STABLE fails: idx changes size")
    assert words.index("so far: ") < words.index("experiment:default-policy")
    assert "Traceback" not in done.err


def test_the_kept_folder_holds_each_arms_facts_and_what_the_program_printed(
    done: Done, folder: Path
) -> None:
    assert done.code == 1
    for name in ("eager", "capture", "experiment-default-policy", "correct"):
        arm = folder / "kept" / "arms" / name
        assert (arm / "arm.ledger.jsonl").stat().st_size > 0
        assert "request  0   60 tokens" in (arm / "stdout.txt").read_text()


def test_the_page_is_one_offline_file_with_the_verdict(done: Done, folder: Path) -> None:
    assert done.code == 1
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "idx changes size on axis 1" in html.unescape(page)
    assert "src=" not in page
    assert "<link" not in page


@pytest.mark.parametrize("form", ["--json", "--md", "terminal"])
def test_report_shows_the_kept_ledger_again_with_the_same_exit_code(
    done: Done, folder: Path, form: str
) -> None:
    again = command("report", *([] if form == "terminal" else [form]), "kept", cwd=folder)
    assert again.code == 1
    if form == "--json":
        assert again.out == done.out
    else:
        assert "idx changes size on axis 1" in " ".join(again.out.split())
    if form == "terminal":
        assert all(len(line) <= 80 for line in again.out.splitlines())


def test_report_needs_no_torch(done: Done, folder: Path) -> None:
    assert done.code == 1
    blocker = folder / "blocker"
    blocker.mkdir()
    (blocker / "sitecustomize.py").write_text("import sys; sys.modules['torch'] = None\n")
    again = command("report", "kept/ledger.json", cwd=folder, PYTHONPATH=str(blocker))
    assert (again.code, again.err) == (1, "")
