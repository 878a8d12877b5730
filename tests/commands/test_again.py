"""The suggested command is the audit that was run, as a shell takes it."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path

import pytest

from compile_ledger.commands import audit, main
from compile_ledger.commands.again import again
from compile_ledger.experiment.targets import parse_target
from compile_ledger.facts.contract import Contract
from compile_ledger.judge.suggest import audit_command


def suggested(folder: Path, *given: str) -> str:
    parser = argparse.ArgumentParser()
    audit.arguments(parser)
    argv = tuple(given[given.index("--") + 1 :]) if "--" in given else ()
    options = parser.parse_args(given[: given.index("--")] if "--" in given else given)
    module = options.target is None
    text = options.module if module else str(folder / options.target)
    target = parse_target(text, argv, module=module)
    return again(target, options).replace(f"{folder}/", "")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["p.py"], "p.py"),
        (["p.py", "--quick", "-o", "kept", "--html", "x.html"], "p.py"),
        (["p.py", "--", "--data", "a file.txt"], "p.py -- --data 'a file.txt'"),
        (["-m", "pack.age", "--", "-x"], "-m pack.age -- -x"),
        (["--max-calls", "9", "p.py", "--timeout", "900"], "--max-calls 9 p.py"),
        (["p.py", "--timeout", "7.5", "--threads", "2"], "--timeout 7.5 --threads 2 p.py"),
        (
            ["p.py", "--rtol", "1e-3", "--atol", "0", "--horizon", "50", "--compare", "8"],
            "--rtol 0.001 --atol 0 --horizon 50 p.py",
        ),
    ],
)
def test_what_bounds_and_names_the_runs_is_kept_and_quoted(
    tmp_path: Path, given: list[str], words: str
) -> None:
    (tmp_path / "p.py").touch()
    assert suggested(tmp_path, *given) == words


def test_the_suggestion_can_be_given_back_to_a_shell() -> None:
    contract = Contract(target="a b.py x", command="'a b.py' -- x")
    assert shlex.split(audit_command(contract, full=True))[2:] == ["--full", "a b.py", "--", "x"]
    assert audit_command(Contract(target="fn")) == "compile-ledger audit fn"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--max-calls", "abc"], "abc is not a whole number"),
        (["--compare", "0"], "0 is not a positive number"),
        (["--timeout", "soon"], "soon is not a number"),
        (["--timeout", "inf"], "inf is not a number of seconds above 0"),
        (["--rtol", "nan"], "nan is no tolerance: give a finite number, 0 or above"),
        (["--rtol", "inf"], "inf is no tolerance"),
        (["--atol=-1"], "-1 is no tolerance"),
        (["--atol", "small"], "small is not a number"),
        (["--require", "all"], "all"),
    ],
)
def test_a_number_that_makes_no_sense_is_refused_with_a_sentence(
    capsys: pytest.CaptureFixture[str], given: list[str], said: str
) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["audit", *given, "p.py"])
    assert stop.value.code == 2
    assert said in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize("text", ["WORTH_IT", "worth it", "Worth-It", " worth_it "])
def test_a_level_may_be_written_in_any_way(text: str) -> None:
    parser = argparse.ArgumentParser()
    audit.arguments(parser)
    assert parser.parse_args(["p.py", "--require", text]).require == "worth_it"
