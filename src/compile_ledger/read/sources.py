"""The text of lines that findings point at, from the files as they are here."""

from __future__ import annotations

import linecache
from collections.abc import Callable, Iterable
from pathlib import Path

from compile_ledger.facts.arm import Arm
from compile_ledger.facts.place import Place

_LONGEST = 200


def sources(arms: Iterable[Arm]) -> Callable[[Place], str]:
    """What gives a line's text without its indent, at most 200 characters; empty: not known.

    A file that was written after the first arm began may not be what ran, so its lines are
    left out, as are files that are not here. A cell of a notebook is known to the process
    that it ran in alone.
    """
    began = min((arm.header.started_unix_ns for arm in arms if arm.header), default=0)
    return lambda place: _source_of(place, began)


def _source_of(place: Place, began_ns: int) -> str:
    if not place.line or not (place.file in linecache.cache or _as_it_ran(place.file, began_ns)):
        return ""
    return linecache.getline(place.file, place.line).strip()[:_LONGEST]


def _as_it_ran(file: str, began_ns: int) -> bool:
    path = Path(file)
    try:
        return path.is_absolute() and 0 <= path.stat().st_mtime_ns <= began_ns
    except (OSError, ValueError):
        return False
