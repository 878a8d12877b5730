"""Where facts go as they come: an append-only file, flushed fact by fact."""

from __future__ import annotations

import errno
import itertools
import os
import sys
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterable
from typing import Any

from compile_ledger.facts.arm import Lost
from compile_ledger.facts.codec import encode

_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_APPEND
_FILE = "recording file"
_MOST_LOSSES = 256


class Sink:
    """Writes each fact as one line with one ``write``; failures are counted, never raised.

    One ``write`` to a file opened for appending is atomic, so threads need no lock.
    """

    def __init__(self, path: str) -> None:
        """Open ``path`` for appending. Raises ``OSError`` when that is impossible."""
        self._reset(path)
        self._fd = os.open(path, _FLAGS, 0o644)

    def _reset(self, path: str) -> None:
        self.path = path
        self.lost: Counter[tuple[str, str]] = Counter()
        self.preface: Callable[[], Iterable[Any]] | None = None
        """What comes before the first fact: the header, and what was known by then."""
        self._waiting: deque[bytes] = deque()
        """Lines of the preface that could not be written yet."""
        self._numbers = itertools.count()
        self._fd = -1
        self._closed = self._warned = self._torn = False
        self._opening = threading.RLock()

    def write(self, fact: Any) -> None:
        """Append one fact; after :meth:`close`, do nothing."""
        if self._closed:
            return
        try:
            self.begin()
            self._append(self._line(fact))
        except Exception as error:  # noqa: BLE001  the program goes on, the loss is counted
            self.lose(_FILE, error)

    def begin(self) -> None:
        """Open the file where it is not open yet, and write the preface, once.

        What a full disk keeps back is tried again before each later fact: without its header
        a recording says neither whose it is nor what could be seen.
        """
        if self._fd >= 0 and self.preface is None and not self._waiting:
            return
        with self._opening:
            if self._fd < 0:
                self._fd = self._open()
            preface, self.preface = self.preface, None
            self._waiting.extend(self._line(fact) for fact in (preface() if preface else ()))
            while self._waiting:
                try:
                    self._append(self._waiting[0])
                except OSError as error:
                    self.lose(_FILE, error)
                    return
                self._waiting.popleft()

    def _line(self, fact: Any) -> bytes:
        """A line with the next number, so that one which is lost is missed by its reader."""
        return encode(fact, next(self._numbers))

    def _open(self) -> int:
        return os.open(self.path, _FLAGS, 0o644)

    def _append(self, line: bytes) -> None:
        if self._torn:
            line = b"\n" + line
        written = os.write(self._fd, line)
        self._torn = written < len(line)
        if self._torn:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def lose(self, where: str, error: BaseException) -> None:
        """Count evidence that could not be taken or kept; the first time, warn on stderr."""
        key = where, f"{type(error).__name__}: {error}"[:300]
        if key not in self.lost and len(self.lost) >= _MOST_LOSSES:
            key = where, "further failures of other kinds"
        self.lost[key] += 1
        if where == _FILE and not self._warned:
            self._warned = True
            _warn(f"compile-ledger: evidence is being lost: {self.path}: {error}\n")

    def losses(self) -> tuple[Lost, ...]:
        """What was lost so far, grouped."""
        return tuple(Lost(where, why, n) for (where, why), n in list(self.lost.items()))

    @property
    def opened(self) -> bool:
        """Whether the file is there."""
        return self._fd >= 0

    def close(self) -> None:
        """Close the file."""
        self._closed = True
        fd, self._fd = self._fd, -1
        if fd >= 0:
            os.close(fd)


class LateSink(Sink):
    """A new file in a folder, made when the first fact comes: idle processes leave none.

    Its name says rank and pid: ``rank0-pid1234.ledger.jsonl``.
    """

    def __init__(self, folder: str, stem: str, suffix: str) -> None:
        """Nothing is opened yet, so nothing can fail yet."""
        self._reset(os.path.join(folder, stem + suffix))  # noqa: PTH118
        self._parts = folder, stem, suffix

    def _open(self) -> int:
        folder, stem, suffix = self._parts
        os.makedirs(folder, exist_ok=True)  # noqa: PTH103
        names = [stem, *(f"{stem}-{number}" for number in range(2, 1000))]
        for name in names:
            path = os.path.join(folder, name + suffix)  # noqa: PTH118
            try:
                fd = os.open(path, _FLAGS | os.O_EXCL, 0o644)
            except FileExistsError:
                continue
            self.path = path
            return fd
        raise FileExistsError(errno.EEXIST, "too many recordings of one pid", folder)


def _warn(text: str) -> None:
    if sys.stderr is not None:
        sys.stderr.write(text)
