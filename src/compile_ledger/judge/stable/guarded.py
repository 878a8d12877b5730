"""The user's line that a guard names, as a place that can be opened."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from compile_ledger.facts.place import Place, origin
from compile_ledger.judge.classify_guard import GuardFailure
from compile_ledger.judge.view import View


def guarded_at(view: View, failures: Iterable[GuardFailure]) -> Place | None:
    """The first line of the user's own that the failures name; None where there is none.

    The runtime may shorten a file's name by the letters that it has in common with its own
    place: the file is the one of the facts that ends so. A line of a library is left out.
    """
    own = set(_own_files(view))
    for failure in failures:
        line = failure.user_line
        found = sorted(file for file in own if line and _is(file, line.file))
        if line and len(found) == 1:
            return Place(found[0], line.line, line.function)
    return None


def _is(file: str, short: str) -> bool:
    plain = file.replace("\\", "/")
    return plain == short or plain.endswith(short if "/" in short else f"/{short}")


def _own_files(view: View) -> Iterator[str]:
    """Files of the user's that the facts name."""
    library = {code.file for code in view.code.values() if code.library}
    places = [code.place for code in view.code.values()]
    places += [p for r in view.regions.values() for p in (r.site, r.target_place) if p]
    places += [p for c in view.compiles for b in c.breaks for p in (b.place, *b.stack) if p]
    for place in places:
        if place.file not in library and origin(place.file) == "program":
            yield place.file
