"""Nothing but the rooms that run torch may load it."""

import subprocess
import sys

import pytest

BLOCKER = """
import sys
class NoTorch:
    def find_spec(self, name, path=None, target=None):
        if name == "torch":
            raise SystemExit("torch was imported")
sys.meta_path.insert(0, NoTorch())
"""

HELP = """
import runpy
sys.argv = ["compile-ledger", "--help"]
runpy.run_module("compile_ledger", run_name="__main__")
"""


def run_without_torch(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", BLOCKER + code], capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize(
    "module",
    [
        "compile_ledger",
        "compile_ledger.facts",
        "compile_ledger.judge",
        "compile_ledger.judge.document",
        "compile_ledger.read",
        "compile_ledger.render",
        "compile_ledger.commands",
    ],
)
def test_import_leaves_torch_alone(module: str) -> None:
    done = run_without_torch(f"import {module}")
    assert (done.returncode, done.stderr) == (0, "")


def test_help_leaves_torch_alone() -> None:
    done = run_without_torch(HELP)
    assert done.returncode == 0, done.stderr
    assert "audit" in done.stdout
