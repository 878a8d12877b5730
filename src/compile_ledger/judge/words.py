"""Small pieces of English and numbers for sentences."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

_MANY = 6


def count(number: int, noun: str, plural: str = "") -> str:
    """``1 call``, ``3 calls``."""
    return f"{number} {noun if number == 1 else plural or noun + 's'}"


def ordinal(number: int) -> str:
    """``1st``, ``2nd``, ``11th``."""
    teen = number % 100 in (11, 12, 13)
    ending = "th" if teen else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def listed(items: Iterable[str], most: int = _MANY) -> str:
    """``a, b, c, ...``: at most ``most`` items."""
    every = list(items)
    return ", ".join(every[:most]) + (", ..." if len(every) > most else "")


def spans(numbers: Sequence[int], most: int = _MANY) -> str:
    """``0-2, 5, 7-9``: call indices, runs of them joined."""
    runs: list[list[int]] = []
    for number in sorted(set(numbers)):
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return listed((str(a) if a == b else f"{a}-{b}" for a, b in runs), most)


def seconds(nanoseconds: float | None) -> float | None:
    """Nanoseconds as seconds; None stays None."""
    return None if nanoseconds is None else nanoseconds / 1e9


def short_seconds(value: float) -> str:
    """``12.3 s``, ``450 ms``, ``31 us``: a duration given in seconds."""
    size = abs(value)
    if size >= 1:
        return f"{value:.1f} s"
    return f"{value * 1e3:.0f} ms" if size >= 1e-3 else f"{value * 1e6:.1f} us"  # noqa: PLR2004


def short_type(name: str) -> str:
    """The last part of a dotted class name."""
    return name.rsplit(".", 1)[-1]
