"""Finds the recordings that a user names: a folder of them, or files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from compile_ledger.facts.arm import Arm
from compile_ledger.facts.codec import SUFFIX

from .recording import RecordingError, read_arm

ARM = "recorded"
_TRACE = "dedicated_log_torch_trace_"


@dataclass(frozen=True)
class Recorded:
    """One process's recording."""

    path: Path
    arm: Arm

    @property
    def calls(self) -> int:
        """Region calls that the process made."""
        counted = self.arm.counters.regions if self.arm.counters else ()
        return max(len(self.arm.calls), sum(region.calls for region in counted))

    @property
    def who(self) -> str:
        """``rank 0, pid 1234``."""
        header = self.arm.header
        if header is None:
            return self.path.name
        rank = "" if header.rank is None else f"rank {header.rank}, "
        return f"{rank}pid {header.pid}"


@dataclass(frozen=True)
class Found:
    """What a folder held."""

    recorded: tuple[Recorded, ...]
    """The busiest first."""
    unread: tuple[str, ...] = ()
    """Why each other file was left out."""


def recordings(path: Path) -> tuple[Path, ...]:
    """The recordings at ``path``, by name. Raises :class:`RecordingError` where there are none."""
    if path.is_file():
        return (path,)
    if not path.is_dir():
        msg = f"{path} does not exist: give the folder or file of a recording"
        raise RecordingError(msg)
    found = tuple(sorted(file for file in path.glob(f"*{SUFFIX}") if file.is_file()))
    if not found:
        raise RecordingError(_nothing_in(path))
    return found


def _nothing_in(path: Path) -> str:
    if any(path.glob(f"{_TRACE}*")):
        return f"{path} holds torch's own traces, which this version cannot read yet"
    if (path / "ledger.json").is_file():
        return f"{path} is an audit's folder: show it with compile-ledger report {path}"
    return f"{path} holds no recording: no process that was recorded made a torch.compile region"


def read_all(path: Path) -> Found:
    """Every recording at ``path``.

    Of a folder, what cannot be read is left out and told. Raises :class:`RecordingError`
    or ``OSError`` where nothing can be read.
    """
    files = recordings(path)
    tried = [_read(file) for file in files]
    read = [one for one in tried if isinstance(one, Recorded)]
    failed = [one for one in tried if isinstance(one, Exception)]
    if not read:
        raise failed[0]
    return Found(tuple(sorted(read, key=lambda one: -one.calls)), tuple(map(str, failed)))


def _read(file: Path) -> Recorded | RecordingError | OSError:
    try:
        return Recorded(file, read_arm(file, ARM))
    except (RecordingError, OSError) as error:
        return error
