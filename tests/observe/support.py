"""What tests of the recorder share."""

import subprocess
from collections.abc import Callable
from pathlib import Path

from compile_ledger.facts.arm import Arm
from compile_ledger.facts.codec import SUFFIX
from compile_ledger.read.recording import read_arm

PROGRAMS = Path(__file__).parent / "programs"

Run = Callable[..., subprocess.CompletedProcess[str]]


def assert_silent(arm: Arm, expected: int, threads: int = 1) -> None:
    """The silent total is exact where lookups are seen, and not claimed where they are not.

    Threads that compile one function at once were seen to put it one too high, once in
    some forty runs.
    """
    sees = {capability.name for capability in arm.capabilities if capability.present}
    assert arm.counters
    if "lookups" not in sees:
        assert arm.counters.silent is None
    else:
        assert arm.counters.silent is not None
        assert 0 <= arm.counters.silent - expected <= (threads > 1)


def arms(folder: Path) -> list[Arm]:
    """Every recording in a folder, by name."""
    return [read_arm(path) for path in sorted(folder.glob(f"*{SUFFIX}"))]
