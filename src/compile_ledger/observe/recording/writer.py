"""Writes the counters at an interval, from a thread that the program does not notice."""

from __future__ import annotations

import _thread
import signal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


class Writer:
    """Calls a function every ``interval`` seconds until it is stopped.

    The thread is not in ``threading.enumerate()``, takes no signal, and does not keep
    the interpreter alive.
    """

    def __init__(self, interval: float, write: Callable[[], object]) -> None:
        """Start the thread. ``write`` must not raise."""
        self._interval = interval
        self._write = write
        self._stop = _thread.allocate_lock()
        self._stop.acquire()
        self._ended = _thread.allocate_lock()
        self._ended.acquire()
        _thread.start_new_thread(self._run, ())

    def _run(self) -> None:
        if hasattr(signal, "pthread_sigmask"):
            signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        while not self._stop.acquire(timeout=self._interval):
            self._write()
        self._ended.release()

    def stop(self) -> None:
        """End the thread, and wait for it up to a second."""
        if self._stop.locked():
            self._stop.release()
            self._ended.acquire(timeout=1.0)
