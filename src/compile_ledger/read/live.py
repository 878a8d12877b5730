"""Follows recordings while they grow: only what is new is read again."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from compile_ledger.facts.arm import Goodbye, Header
from compile_ledger.facts.calls import Counters
from compile_ledger.facts.codec import SUFFIX, DamagedLineError, UnknownKindError, decode
from compile_ledger.facts.compile import Compile
from compile_ledger.facts.region import CodeObject, Region

from .recording import later

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
    _offset: int = 0
    _inode: int = 0

    def follow(self) -> None:
        """Read what came since the last time; start over where the file was replaced."""
        with self.path.open("rb") as stream:
            status = os.fstat(stream.fileno())
            if status.st_ino != self._inode or status.st_size < self._offset:
                self.__init__(self.path, _inode=status.st_ino)  # type: ignore[misc]
            stream.seek(self._offset)
            while chunk := stream.read(_CHUNK):
                whole = chunk.rfind(b"\n") + 1
                if not whole:
                    return
                for line in chunk[:whole].splitlines():
                    self._take(line)
                self._offset += whole
                stream.seek(self._offset)

    def _take(self, line: bytes) -> None:
        try:
            fact: Any = decode(line)
        except (UnknownKindError, DamagedLineError):
            return
        if isinstance(fact, Counters):
            self.before = self.counters
            self.counters = fact if self.counters is None else later(self.counters, fact)
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
        """``running``, how it ended, or ``ended without a goodbye``."""
        if self.goodbye is not None:
            return self.goodbye.status
        alive = self.header is not None and _alive(self.header.pid)
        return "running" if alive else "ended without a goodbye"


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
        """Read what is new in each file; files that went away are left out."""
        files = [self.path] if self.path.is_file() else sorted(self.path.glob(f"*{SUFFIX}"))
        for gone in set(self.processes) - set(files):
            del self.processes[gone]
        for file in files:
            live = self.processes.setdefault(file, Live(file))
            try:
                live.follow()
            except OSError:
                del self.processes[file]
        return tuple(self.processes.values())
