"""What a user may name, and the line they get where it cannot be audited."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from compile_ledger.experiment.targets import TargetError, parse_target


@pytest.fixture
def script(tmp_path: Path) -> Path:
    file = tmp_path / "serve.py"
    file.write_text("")
    return file


def test_a_file_is_a_script_with_its_arguments(script: Path) -> None:
    target = parse_target(str(script), ("--epochs", "3"))
    assert (target.kind, target.path, target.name) == ("script", str(script), "")
    assert (target.argv, target.text) == (("--epochs", "3"), str(script))


def test_a_relative_file_is_made_absolute_and_keeps_the_users_words(
    script: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(script.parent)
    target = parse_target("serve.py")
    assert (target.path, target.text) == (str(script), "serve.py")
    assert os.path.isabs(target.path)  # noqa: PTH117


@pytest.mark.parametrize("name", ["workload", "Service.build"])
def test_a_name_after_a_colon_is_looked_up_in_the_file(script: Path, name: str) -> None:
    target = parse_target(f"{script}:{name}")
    assert (target.kind, target.path, target.name) == ("name", str(script), name)


def test_a_colon_in_a_path_belongs_to_the_path(tmp_path: Path) -> None:
    odd = tmp_path / "run 12:30.py"
    odd.write_text("")
    assert parse_target(str(odd)).path == str(odd)
    assert parse_target(f"{odd}:main").name == "main"


def test_a_module_is_kept_as_it_is_and_takes_arguments() -> None:
    target = parse_target("package.serve", ("-v",), module=True)
    assert (target.kind, target.path, target.argv) == ("module", "package.serve", ("-v",))
    assert target.text == "-m package.serve"


@pytest.mark.parametrize("text", ["absent.py", "absent.py:workload", ""])
def test_what_does_not_exist_says_what_to_give(text: str) -> None:
    with pytest.raises(TargetError, match=r"does not exist: give a script, file.py:name, or -m"):
        parse_target(text)


def test_a_name_without_a_file_is_told() -> None:
    with pytest.raises(TargetError, match=r"^:x names no file: give file.py:x, a script, or -m"):
        parse_target(":x")


def test_a_folder_is_no_script(tmp_path: Path) -> None:
    with pytest.raises(TargetError, match=r"is a directory: give a script in it, file.py:name"):
        parse_target(str(tmp_path))
    with pytest.raises(TargetError, match="is a directory"):
        parse_target(f"{tmp_path}:workload")


def test_arguments_for_a_named_function_are_refused(script: Path) -> None:
    with pytest.raises(TargetError, match="arguments after -- go to scripts and modules only"):
        parse_target(f"{script}:workload", ("x",))
