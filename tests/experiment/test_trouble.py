"""The line that ends an audit after an eager arm that shows nothing."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import pytest

from compile_ledger.experiment.arm_process import LEFT
from compile_ledger.experiment.cannot_run import cannot_run, stops_before_compiling
from compile_ledger.experiment.launch import AuditError
from compile_ledger.experiment.subject import SubjectError, load
from compile_ledger.experiment.targets import Target, parse_target
from compile_ledger.experiment.trouble import check_eager
from compile_ledger.facts.arm import Arm

TARGET = Target("script", "/there/serve.py", text="serve.py")


READS = "import argparse, torch\nargparse.ArgumentParser().parse_args()\n"
DEFINES = "import torch\n\ndef main():\n    torch.compile(abs)(3)\n"
RUNS = "import torch\nprint(1)\n"


def target(folder: Path, text: str) -> Target:
    (folder / "serve.py").write_text(text)
    return Target("script", str(folder / "serve.py"), text="serve.py")


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        (READS, "give serve.py the arguments after -- with which it runs what it compiles"),
        (DEFINES, "serve.py only defines: call it under if __name__ == '__main__'"),
        (RUNS, "give a program that does, or file.py:name with a Workload"),
    ],
)
def test_the_advice_is_of_what_the_source_does(tmp_path: Path, text: str, advice: str) -> None:
    left = Arm("eager", status="stopped", why=LEFT)
    for arm in (left, Arm("eager")):
        with pytest.raises(AuditError) as caught:
            check_eager(arm, target(tmp_path, text))
        assert advice in str(caught.value)


def test_a_usage_error_is_told_in_the_program_s_own_words(tmp_path: Path) -> None:
    words = "usage: serve.py DATA serve.py: error: the following arguments are required: DATA"
    with pytest.raises(AuditError) as caught:
        check_eager(Arm("eager", exit_code=2), target(tmp_path, READS), words)
    assert str(caught.value) == (
        f"serve.py ended with exit code 2: {words}: "
        "give serve.py the arguments after -- with which it runs what it compiles"
    )


def raised(text: str, folder: Path) -> BaseException:
    """What running ``text`` as a file raises."""
    (folder / "program.py").write_text(text)
    try:
        runpy.run_path(str(folder / "program.py"))
    except Exception as error:  # noqa: BLE001  whatever it is
        return error
    raise AssertionError


CHAIN = """
def lazily():
    try:
        import a_package_that_is_not_there.more
    except ImportError as error:
        raise ModuleNotFoundError("Could not import module 'AutoModel'. Are the") from error
lazily()
"""
BROKEN = """
try:
    raise OSError("libcuda.so: cannot open shared object file")
except OSError as error:
    raise ImportError("cannot import name 'fast'") from error
"""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "import a_package_that_is_not_there.more",
            "program.py:1): the package a_package_that_is_not_there is not installed here: install",
        ),
        ("import json.absent", "json is installed and has no json.absent"),
        ("import torch.absent", "torch is installed and has no torch.absent"),
        (CHAIN, "'AutoModel'. Are the (FOLDER/program.py:6); caused by ModuleNotFoundError: No "),
        (CHAIN, "the package a_package_that_is_not_there is not installed here: install it"),
        (BROKEN, "ImportError: cannot import name 'fast' (FOLDER/program.py:5); caused by OSError"),
        (BROKEN, "has to run as ordinary Python first: python serve.py"),
        ("def f(:\n", "SyntaxError: invalid syntax (FOLDER/program.py:1)"),
        ("open('data/absent.csv')", "data/absent.csv is looked for in "),
        ("raise ValueError('bad\\nand more')", "ValueError: bad (FOLDER/program.py:1): it has to"),
    ],
)
def test_what_stops_a_program_is_told_as_python_would(text: str, said: str, tmp_path: Path) -> None:
    error = raised(text, tmp_path)
    told = cannot_run(TARGET, error)
    assert told.startswith(f"serve.py cannot run: {type(error).__name__}: ")
    assert said.replace("FOLDER", str(tmp_path)) in told
    assert "\n" not in told


def test_only_what_no_wrapper_raises_is_told_before_eager_without_one_was_run() -> None:
    assert stops_before_compiling(ValueError(), regions=0)
    assert stops_before_compiling(FileNotFoundError(), regions=1)
    assert not stops_before_compiling(RuntimeError(), regions=1), "wrappers change keys and names"


def test_a_name_that_is_no_function_is_told_with_its_article(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", sys.argv)
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "holds_numbers.py").write_text("number = 3\n")
    with pytest.raises(SubjectError, match="number is an int: wanted a Workload"):
        load(parse_target(f"{tmp_path / 'holds_numbers.py'}:number"))
