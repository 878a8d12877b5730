"""Where facts go as they come: an append-only file, flushed fact by fact."""

from __future__ import annotations

import os
import sys
from collections import Counter
from typing import Any

from compile_ledger.facts.arm import Lost
from compile_ledger.facts.codec import encode

_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_APPEND


class Sink:
    """Writes each fact as one line with one ``write``; failures are counted, never raised.

    One ``write`` to a file opened for appending is atomic, so threads need no lock.
    """

    def __init__(self, path: str) -> None:
        """Open ``path`` for appending. Raises ``OSError`` when that is impossible."""
        self.path = path
        self.lost: Counter[tuple[str, str]] = Counter()
        self._fd = os.open(path, _FLAGS, 0o644)
        self._warned = False

    def write(self, fact: Any) -> None:
        """Append one fact."""
        try:
            os.write(self._fd, encode(fact))
        except Exception as error:  # noqa: BLE001  the program goes on, the loss is counted
            self.lose("recording file", error)

    def lose(self, where: str, error: BaseException) -> None:
        """Count evidence that could not be taken or kept; the first time, warn on stderr."""
        self.lost[where, f"{type(error).__name__}: {error}"[:300]] += 1
        if where == "recording file" and not self._warned:
            self._warned = True
            sys.stderr.write(f"compile-ledger: evidence is being lost: {self.path}: {error}\n")

    def losses(self) -> tuple[Lost, ...]:
        """What was lost so far, grouped."""
        return tuple(Lost(where, why, n) for (where, why), n in self.lost.items())

    def close(self) -> None:
        """Close the file; later writes are losses."""
        fd, self._fd = self._fd, -1
        if fd >= 0:
            os.close(fd)
