"""Runs one arm in a fresh process and reads its facts back."""

from __future__ import annotations

import dataclasses
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from compile_ledger.facts.arm import Arm, ArmStatus
from compile_ledger.facts.codec import SUFFIX
from compile_ledger.read.recording import RecordingError, read_arm

from .arm_process import PROBLEM, TORCH_MISSING, problem_file, progress_file
from .spec import ArmSpec

Progress = Callable[[str, float, "ArmFolder"], None]
"""Called about four times a second with the arm's name, its seconds, and its folder."""

_OFF, _LOGS, _WARM = "turn compiling off", "log", "warm what should be cold"
_DROPPED = {
    "TORCH_LOGS": _LOGS,
    "TORCH_TRACE": _LOGS,
    "TORCHDYNAMO_DISABLE": _OFF,
    "TORCH_COMPILE_DISABLE": _OFF,
    "TORCH_COMPILE_JOB_ID": _WARM,
    "TORCH_COMPILE_STICKY_PGO_KEY": _WARM,
    "TRITON_CACHE_DIR": _WARM,
}
"""Variables that would change an arm, and how."""

_PROFILERS = "USDT:"
"""How the lines begin that torch's profiler writes to stderr as it starts and stops."""

GRACE = 60.0
"""Seconds beyond its timeout in which an arm measures what it has seen, and says goodbye."""


class AuditError(ValueError):
    """The audit cannot do its work: one line, with the remedy."""


@dataclass(frozen=True)
class ArmFolder:
    """The files of one arm."""

    path: Path

    def renew(self) -> None:
        """Make the folder, without what an earlier audit left in it."""
        self.path.mkdir(parents=True, exist_ok=True)
        for old in (self.recording, problem_file(str(self.recording)), self.progress):
            old.unlink(missing_ok=True)

    @property
    def recording(self) -> Path:
        """The arm's facts."""
        return self.path / f"arm{SUFFIX}"

    @property
    def progress(self) -> Path:
        """How far the arm is, while it runs."""
        return progress_file(str(self.recording))

    @property
    def spec(self) -> Path:
        """What the arm was told."""
        return self.path / "spec.json"

    @property
    def stderr(self) -> Path:
        """What the program wrote to stderr."""
        return self.path / "stderr.txt"

    def last_words(self, lines: int = 4) -> str:
        """The end of what the program wrote to stderr, in one line, without the profiler's."""
        try:
            text = self.stderr.read_text(encoding="utf-8", errors="replace")
        except OSError:
            return ""
        said = [line for line in text.strip().splitlines() if not line.startswith(_PROFILERS)]
        last = said[-lines:]
        return " ".join(" ".join(last).split())[-400 if lines > 1 else -200 :]

    @property
    def stdout(self) -> Path:
        """What the program wrote to stdout."""
        return self.path / "stdout.txt"


def dropped() -> dict[str, str]:
    """The user's variables that no arm gets, as ``NAME=value``, with what they would do."""
    there = {name: os.environ.get(name, "") for name in _DROPPED}
    return {
        f"{name}={value}": _DROPPED[name]
        for name, value in there.items()
        if value and not (value == "0" and _DROPPED[name] == _OFF)
    }


def environment_of(caches: Path, spec: ArmSpec) -> dict[str, str]:
    """The arm's environment: isolated caches and TMPDIR, and nothing that changes the arm.

    TMPDIR matters: inductor's precompiled header lies there, and a compile that
    finds it is not cold.
    """
    env = {k: v for k, v in os.environ.items() if k not in _DROPPED}
    return env | dict(own_variables(caches, spec))


def own_variables(caches: Path, spec: ArmSpec) -> dict[str, str]:
    """The variables that an arm is given."""
    for name in ("inductor", "tmp", "triton"):
        (caches / name).mkdir(parents=True, exist_ok=True)
    return {
        "TORCHINDUCTOR_CACHE_DIR": str(caches / "inductor"),
        "TMPDIR": str(caches / "tmp"),
        "TRITON_CACHE_DIR": str(caches / "triton"),
        "TORCHINDUCTOR_COMPILE_THREADS": os.environ.get("TORCHINDUCTOR_COMPILE_THREADS", "1"),
        "OMP_NUM_THREADS": str(spec.threads),
        "PYTHONHASHSEED": "0",
        **spec.env,
    }


def run_arm(
    spec: ArmSpec, folder: ArmFolder, caches: Path, timeout: float, progress: Progress
) -> Arm:
    """Run one arm to its end, its timeout (seconds), or Ctrl-C, and read its facts.

    Raises :class:`AuditError` when the target cannot be run at all, and
    ``KeyboardInterrupt`` after the arm's processes are gone.
    """
    folder.renew()
    spec = dataclasses.replace(spec, dropped=tuple(dropped()), timeout=timeout)
    spec.write(folder.spec)
    began = time.monotonic()
    with folder.stdout.open("wb") as out, folder.stderr.open("wb") as err:
        process = subprocess.Popen(
            [sys.executable, "-m", "compile_ledger.experiment.arm_process", str(folder.spec)],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            env=environment_of(caches, spec),
            start_new_session=True,
        )
        try:
            status, code, cpu = _wait(process, spec, folder, timeout + GRACE, progress)
        finally:
            _end_group(process)
            process.wait()
    _raise_problem(spec, code)
    return _read(spec, folder, status, code, (time.monotonic() - began, cpu))


def _wait(
    process: subprocess.Popen[bytes],
    spec: ArmSpec,
    folder: ArmFolder,
    timeout: float,
    progress: Progress,
) -> tuple[ArmStatus, int, float]:
    """Status, exit code, and CPU seconds of the process with its waited children."""
    began = time.monotonic()
    while True:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            process.returncode = os.waitstatus_to_exitcode(status)
            return "finished", process.returncode, usage.ru_utime + usage.ru_stime
        seconds = time.monotonic() - began
        if seconds > timeout:
            _end_group(process)
            _, _, usage = os.wait4(process.pid, 0)
            process.returncode = -signal.SIGKILL
            return "timed_out", process.returncode, usage.ru_utime + usage.ru_stime
        progress(spec.name, seconds, folder)
        time.sleep(0.25 if seconds > 1 else 0.05)


def _end_group(process: subprocess.Popen[bytes]) -> None:
    """End whatever the arm started and left running."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return


def _raise_problem(spec: ArmSpec, code: int) -> None:
    if code == PROBLEM:
        raise AuditError(problem_file(spec.recording).read_text(encoding="utf-8"))
    if code == TORCH_MISSING:
        msg = "torch is not installed in this Python: pip install 'compile-ledger[torch]'"
        raise AuditError(msg)


def _read(
    spec: ArmSpec, folder: ArmFolder, status: ArmStatus, code: int, spent: tuple[float, float]
) -> Arm:
    arm = _facts(spec, folder)
    if status == "timed_out":
        arm = dataclasses.replace(arm, status="timed_out", why="it ran past --timeout")
    elif arm.status == "killed":
        ended, why = _unexpected(folder, code)
        arm = dataclasses.replace(arm, status=ended, why=why)
    wall, cpu = (int(seconds * 1e9) for seconds in spent)
    return dataclasses.replace(arm, wall_ns=wall, cpu_ns=cpu)


def _facts(spec: ArmSpec, folder: ArmFolder) -> Arm:
    try:
        return read_arm(folder.recording, spec.name, spec.change)
    except (OSError, RecordingError):
        return Arm(spec.name, spec.change, status="killed", why="it left no recording")


def _unexpected(folder: ArmFolder, code: int) -> tuple[ArmStatus, str]:
    """Why an arm ended without a goodbye."""
    if code < 0:
        return "killed", f"killed by signal {signal.Signals(-code).name}"
    if code == 0:
        return "failed", "the process ended without a word, with exit code 0"
    return "failed", f"exit code {code}: {folder.last_words(1) or 'no message'}"
