"""What tests of the recorder share."""

import subprocess
from collections.abc import Callable
from pathlib import Path

from compile_ledger.facts.arm import Arm
from compile_ledger.facts.codec import SUFFIX
from compile_ledger.read.recording import read_arm

PROGRAMS = Path(__file__).parent / "programs"

Run = Callable[..., subprocess.CompletedProcess[str]]


def arms(folder: Path) -> list[Arm]:
    """Every recording in a folder, by name."""
    return [read_arm(path) for path in sorted(folder.glob(f"*{SUFFIX}"))]
