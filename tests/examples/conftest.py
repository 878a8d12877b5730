"""Examples are run as users run them: as scripts, in a process of their own."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@dataclass
class Counted:
    """What one run of an example did."""

    output: str
    graphs: int
    runs: list[int]
    """Graph numbers in the order in which they ran."""
    kwargs: list[dict[str, bool | None]]
    """The keyword arguments of each ``torch.compile`` call."""
    recompiles: int
    log: str

    @property
    def lengths(self) -> list[int]:
        """The tokens of each request, as printed."""
        return [int(found) for found in re.findall(r"(\d+) tokens", self.output)]


RunExample = Callable[..., Counted]


@pytest.fixture
def run_example(tmp_path: Path) -> RunExample:
    """Run ``examples/NAME`` with arguments, counting graphs."""

    def run(name: str, *args: str) -> Counted:
        counts = tmp_path / "counts.json"
        runner = str(Path(__file__).with_name("run_counted.py"))
        done = subprocess.run(
            [sys.executable, runner, str(counts), str(ROOT / "examples" / name), *args],
            env={**os.environ, "TORCH_LOGS": "recompiles", "OMP_NUM_THREADS": "1"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        recompiles = done.stderr.count("Recompiling function")
        return Counted(
            done.stdout, **json.loads(counts.read_text()), recompiles=recompiles, log=done.stderr
        )

    return run
