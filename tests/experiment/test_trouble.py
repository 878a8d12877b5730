"""The line that ends an audit after an eager arm that shows nothing."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from compile_ledger.experiment.launch import LEFT, AuditError
from compile_ledger.experiment.subject import SubjectError, load
from compile_ledger.experiment.targets import Target, parse_target
from compile_ledger.experiment.trouble import check_eager
from compile_ledger.facts.arm import Arm
from compile_ledger.facts.place import Raised

TARGET = Target("script", "/there/serve.py", text="serve.py")


def test_a_program_that_leaves_before_any_region_is_told_what_it_needs() -> None:
    arm = Arm("eager", status="failed", why=f"{LEFT} before any region ran")
    with pytest.raises(AuditError, match=r"os._exit\(0\) before any region ran: give serve.py the"):
        check_eager(arm, TARGET)


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("No module named 'absent'", "needs the package absent, which is not installed here"),
        (
            "No module named 'html.entities'; 'html' is not a package",
            "cannot import html.entities: a file html.py hides the package",
        ),
    ],
)
def test_a_package_that_cannot_be_imported_is_named(message: str, said: str) -> None:
    arm = Arm("eager", status="raised", raised=Raised("ModuleNotFoundError", message))
    with pytest.raises(AuditError, match=f"^serve.py {said}"):
        check_eager(arm, TARGET)


def test_a_name_that_is_no_function_is_told_with_its_article(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", sys.argv)
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "holds_numbers.py").write_text("number = 3\n")
    with pytest.raises(SubjectError, match="number is an int: wanted a Workload"):
        load(parse_target(f"{tmp_path / 'holds_numbers.py'}:number"))
