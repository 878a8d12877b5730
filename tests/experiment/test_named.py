"""Named targets: what a name in a file may be, and the line for what it may not."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from compile_ledger.experiment import plan
from compile_ledger.experiment.subject import SubjectError, check_was_program, load, site_of
from compile_ledger.experiment.targets import Target, parse_target
from compile_ledger.facts.arm import Arm

from .support import PROGRAMS, arms, dispositions, program


@pytest.fixture
def clean(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Loading a target changes the process as running a script does."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(sys, "argv", [*sys.argv])
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        if name.startswith(("users_", "compile_ledger_target_")):
            del sys.modules[name]


def target(folder: Path, text: str, name: str) -> Target:
    file = folder / "users_file.py"
    file.write_text(text)
    return parse_target(f"{file}:{name}")


@pytest.mark.usefixtures("clean")
@pytest.mark.parametrize(
    ("text", "name", "said"),
    [
        ("def serve(): ...", "server", "users_file.py has no server; it has serve"),
        ("", "x", "users_file.py has no x"),
        ("import users_absent", "x", "the package users_absent is not installed here: install it"),
        (
            "1 / 0",
            "x",
            r"cannot run: ZeroDivisionError: division by zero \(.*users_file.py:1",
        ),
        ("def f(:", "f", "cannot run: SyntaxError"),
        ("raise SystemExit(3)", "x", "cannot run: SystemExit: 3"),
        ("x = 3", "x", "is an int: wanted a Workload"),
        ("class x: ...", "x", "is a type: wanted a Workload"),
        ("def x(a): ...", "x", "needs the argument a: wanted a Workload"),
        ("def x(*, a): return a", "x.y", "has no x.y"),
    ],
)
def test_what_cannot_be_run_says_so_in_one_line(
    tmp_path: Path, text: str, name: str, said: str
) -> None:
    with pytest.raises(SubjectError, match=said) as caught:
        load(target(tmp_path, text, name))
    assert "\n" not in str(caught.value)


@pytest.mark.usefixtures("clean")
@pytest.mark.parametrize("value", ["None", "3", "(len, 3)", "[len, [1]]", "(len, [1], {})"])
def test_a_function_that_returns_neither_a_workload_nor_compiled_anything(
    tmp_path: Path, value: str
) -> None:
    it = target(tmp_path, f"def x(): return {value}", "x")
    outcome = load(it)()
    with pytest.raises(SubjectError, match="compiled nothing: wanted a Workload"):
        check_was_program(it, outcome)


@pytest.mark.usefixtures("clean")
@pytest.mark.parametrize(
    ("calls", "said"), [("[((1,), {2: 3})]", "string names"), ("3", "calls must be an iterable")]
)
def test_calls_of_a_wrong_form_are_no_fault_of_the_program(
    tmp_path: Path, calls: str, said: str
) -> None:
    text = f"import compile_ledger\ndef x(): return compile_ledger.Workload(len, {calls})"
    with pytest.raises(SubjectError, match=said):
        load(target(tmp_path, text, "x"))()


@pytest.mark.usefixtures("clean")
def test_a_function_that_raises_is_a_program_that_raises(tmp_path: Path) -> None:
    it = target(tmp_path, "def x(): raise ValueError('no')", "x")
    outcome = load(it)()
    assert isinstance(outcome.raised, ValueError)
    check_was_program(it, outcome)


@pytest.mark.usefixtures("clean")
def test_a_file_sees_itself_as_the_script_that_it_is_and_imports_its_neighbours(
    tmp_path: Path,
) -> None:
    (tmp_path / "users_neighbour.py").write_text("VALUE = 7")
    text = "import sys, users_neighbour\ndef x(): return sys.argv, users_neighbour.VALUE"
    outcome = load(target(tmp_path, text, "x"))()
    assert outcome.result == ([str(tmp_path / "users_file.py")], 7)


@pytest.mark.parametrize(
    ("name", "line"),
    [("build", "def build"), ("workload", "workload ="), ("Holder.build", "class Holder")],
)
def test_the_site_of_a_named_workload_is_where_the_user_binds_the_name(
    name: str, line: str
) -> None:
    site = site_of(program(f"pair.py:{name}"))
    assert site
    text = (PROGRAMS / "pair.py").read_text().splitlines()
    assert text[site.line - 1].startswith(line)
    assert (site.file, site.function) == (str(PROGRAMS / "pair.py"), name)


def test_a_script_has_no_site_of_its_own() -> None:
    assert site_of(program("streams.py")) is None


def named(folder: Path, name: str) -> Arm:
    return arms(program(f"pair.py:{name}"), folder, plan.capture)["capture"]


@pytest.mark.slow
def test_a_pair_is_called_in_every_form_with_the_modules_settings(tmp_path: Path) -> None:
    arm = named(tmp_path, "build")
    assert arm.regions[0].compile_kwargs == {"backend": "'eager'", "dynamic": "True"}
    assert [call.sizes["x"] for call in arm.calls] == [(4,), (4,), (4,), (5,)]
    assert arm.regions[0].site == site_of(program("pair.py:build"))
    fates = dispositions(arm, "fn")
    assert fates[0] == "compiled"
    assert set(fates[1:]) <= {"recompiled", "reused"}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["workload", "Holder.build"])
def test_a_workload_may_be_an_object_or_what_a_dotted_name_returns(
    tmp_path: Path, name: str
) -> None:
    arm = named(tmp_path, name)
    assert dispositions(arm, "fn") == ["compiled", "reused", "reused"]
    assert arm.regions[0].compile_kwargs == {"backend": "'eager'"}


def test_any_text_is_a_target_or_a_line_never_an_exception_of_another_kind(
    tmp_path: Path,
) -> None:
    for text in ("\x00", "a\nb", "é:é", ":" * 300, "." * 300, "\ud800"):
        with pytest.raises((ValueError, OSError)):
            parse_target(str(tmp_path / text))
