"""What tests of the recorder share."""

import subprocess
from collections.abc import Callable
from pathlib import Path

from compile_ledger.facts.arm import Arm
from compile_ledger.facts.codec import SUFFIX
from compile_ledger.read.recording import read_arm

PROGRAMS = Path(__file__).parent / "programs"

Run = Callable[..., subprocess.CompletedProcess[str]]


def assert_silent(arm: Arm, expected: int) -> None:
    """The silent total is exact where lookups are seen, and not claimed where they are not."""
    sees = {capability.name for capability in arm.capabilities if capability.present}
    assert arm.counters
    assert arm.counters.silent == (expected if "lookups" in sees else None)


def arms(folder: Path) -> list[Arm]:
    """Every recording in a folder, by name."""
    return [read_arm(path) for path in sorted(folder.glob(f"*{SUFFIX}"))]
