"""Readings of the counters, of which only what changed is written."""

from __future__ import annotations

import dataclasses
import time
from typing import TYPE_CHECKING, Any

from compile_ledger.facts.calls import Counters

if TYPE_CHECKING:
    from .recorder import Recorder

_TRIES = 3
_APART = 0.002
"""Seconds between two looks at the silent total."""


class Readings:
    """Writes a reading when something changed since the last one."""

    def __init__(self, recorder: Recorder) -> None:
        """Nothing has been written yet."""
        self._recorder = recorder
        self._written: dict[Any, Any] = {}

    def write_changes(self) -> None:
        """Write the counters that changed; never raises."""
        session = self._recorder.session
        session.contained(self._write)
        if session.timeline is not None:
            session.contained(session.timeline.flush)

    def _write(self) -> None:
        reading = self._recorder.counters()
        regions = tuple(fact for fact in reading.regions if self._changed(fact.region, fact))
        entries = tuple(
            fact
            for fact in reading.entries
            if self._changed((fact.code_object, fact.compile_id), fact)
        )
        if regions or entries:
            silent = self._settled(reading)
            self._recorder.session.sink.write(
                dataclasses.replace(reading, regions=regions, entries=entries, silent=silent)
            )

    def _settled(self, reading: Counters) -> int | None:
        """The silent total without calls that are just passing from one counter to the next."""
        silent = reading.silent
        for _ in range(_TRIES):
            if not silent:
                break
            time.sleep(_APART)
            again = self._recorder.session.silent()
            silent = silent if again is None else min(silent, again)
        return silent

    def _changed(self, key: Any, fact: Any) -> bool:
        if self._written.get(key) == fact:
            return False
        self._written[key] = fact
        return True
