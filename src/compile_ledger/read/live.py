"""Follows recordings while they grow: only what is new is read again."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from compile_ledger.facts.arm import Goodbye, Header
from compile_ledger.facts.calls import Counters
from compile_ledger.facts.codec import FORMAT, SUFFIX, DamagedLineError, UnknownKindError, decode
from compile_ledger.facts.compile import Compile
from compile_ledger.facts.region import CodeObject, Region

from .recording import Totals

_CHUNK = 1 << 22


@dataclass
class Live:
    """What is known of one process by now."""

    path: Path
    header: Header | None = None
    regions: dict[int, Region] = field(default_factory=dict)
    code: dict[int, CodeObject] = field(default_factory=dict)
    counters: Counters | None = None
    before: Counters | None = None
    """The reading before the last one: two make a rate."""
    compiles: list[Compile] = field(default_factory=list)
    goodbye: Goodbye | None = None
    unread: int = 0
    """Lines that were not read: damaged, of an unknown kind, or longer than any of ours."""
    changed: float = 0.0
    """When the file last grew, in seconds since the epoch."""
    _totals: Totals = field(default_factory=Totals)
    _too_long: bool = False
    """Whether the reader stands inside a line that it skips."""
    _offset: int = 0
    _inode: int = 0

    def follow(self) -> None:
        """Read what came since the last time; start over where the file was replaced."""
        with self.path.open("rb") as stream:
            status = os.fstat(stream.fileno())
            if status.st_ino != self._inode or status.st_size < self._offset:
                self.__init__(self.path, _inode=status.st_ino)  # type: ignore[misc]
            self.changed = status.st_mtime
            stream.seek(self._offset)
            while chunk := stream.read(_CHUNK):
                whole = chunk.rfind(b"\n") + 1
                if not whole and len(chunk) < _CHUNK:
                    return
                self._take_lines(chunk[:whole])
                self._too_long = not whole
                self._offset += whole or len(chunk)
                stream.seek(self._offset)

    def _take_lines(self, lines: bytes) -> None:
        every = lines.split(b"\n")[:-1]
        if every and self._too_long:
            self.unread += 1
            del every[0]
        for line in every:
            self._take(line)

    def _take(self, line: bytes) -> None:
        try:
            fact: Any = decode(line)
        except (UnknownKindError, DamagedLineError):
            self.unread += 1
            return
        if isinstance(fact, Counters):
            self.before = self.counters
            self._totals.add(fact)
            self.counters = self._totals.now()
        elif isinstance(fact, Compile):
            self.compiles.append(fact)
        elif isinstance(fact, (Region, CodeObject)):
            known: dict[int, Any] = self.regions if isinstance(fact, Region) else self.code
            known[fact.id] = fact
        elif isinstance(fact, Goodbye):
            self.goodbye = fact
        elif isinstance(fact, Header):
            self.header = fact

    @property
    def state(self) -> str:
        """``running``, how it ended, or that it is no recording."""
        if self.header is None or self.header.format != FORMAT:
            return "no compile-ledger recording" if self._offset else "nothing written yet"
        if self.goodbye is not None:
            return self.goodbye.status
        return "running" if _alive(self.header.pid) else "ended without a goodbye"


def _alive(pid: int) -> bool:
    """Whether a process of this number exists here."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


class Folder:
    """Every recording in a folder, or one file; the folder may be empty, or not there yet."""

    def __init__(self, path: Path) -> None:
        """Nothing is read yet."""
        self.path = path
        self.processes: dict[Path, Live] = {}

    def follow(self) -> tuple[Live, ...]:
        """Read what is new in each file; running processes first, then the last to change.

        Files that went away are left out.
        """
        found = [self.path] if self.path.is_file() else sorted(self.path.glob(f"*{SUFFIX}"))
        files = [file for file in found if file.is_file()]
        for gone in set(self.processes) - set(files):
            del self.processes[gone]
        for file in files:
            live = self.processes.setdefault(file, Live(file))
            try:
                live.follow()
            except OSError:
                del self.processes[file]
        order = sorted(self.processes.values(), key=lambda live: -live.changed)
        return tuple(sorted(order, key=lambda live: live.state != "running"))
