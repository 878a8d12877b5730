"""How numbers, places and texts are worded, the same in every form.

A number that was not measured is worded so: never as 0, never as a blank.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Callable, Iterable

from compile_ledger.facts.place import Place
from compile_ledger.judge.document import Interval

NOT_MEASURED = "not measured"

_BREAK = re.compile(r"\s*[^\S ]\s*")

_UNITS = ((1e-6, 1e-9, "ns"), (1e-3, 1e-6, "µs"), (1.0, 1e-3, "ms"))


def three_digits(value: float) -> str:
    """``value`` (any magnitude from 0.01 to millions) in three significant digits."""
    size = abs(value)
    if size >= 99.95:  # noqa: PLR2004 - three digits
        return f"{value:,.0f}"
    return f"{value:.1f}" if size >= 9.995 else f"{value:.2f}"  # noqa: PLR2004 - same


def seconds(value: float | None) -> str:
    """Seconds in the unit that fits: ``412 µs``, ``8.10 ms``, ``21.4 s``."""
    if value is None:
        return NOT_MEASURED
    if value == 0:
        return "0 s"
    for below, unit, name in _UNITS:
        if abs(value) < below * 0.9995:
            return f"{three_digits(value / unit)} {name}"
    return f"{three_digits(value)} s"


def nanoseconds(value: float | None) -> str:
    """Nanoseconds, worded as :func:`seconds` words them."""
    return seconds(None if value is None else value / 1e9)


def count(value: float | None) -> str:
    """A whole number with separators, ``12,345``."""
    return NOT_MEASURED if value is None else f"{value:,.0f}"


def counted(value: int, noun: str) -> str:
    """``1 call``, ``13 calls``."""
    return f"{value:,} {noun}" if value == 1 else f"{value:,} {noun}s"


def ratio(value: float | None) -> str:
    """A ratio, ``24.1×``; between 0.1 and 10 with three decimals, ``1.004×``."""
    if value is None:
        return NOT_MEASURED
    near_one = 0.1 <= abs(value) < 10  # noqa: PLR2004 - where the third decimal tells
    return f"{value:.3f}×" if near_one else f"{three_digits(value)}×"


def small(value: float | None) -> str:
    """An error or difference, ``7.2e-07``; an exact zero is ``0``."""
    if value is None:
        return NOT_MEASURED
    return "0" if value == 0 else f"{value:.1e}"


def interval(measured: Interval, word: Callable[[float | None], str]) -> str:
    """A value with its 95% interval, or ``not measured`` with the reason."""
    if measured.value is None:
        return because(NOT_MEASURED, measured.why)
    if measured.low is None or measured.high is None:
        return word(measured.value)
    return f"{word(measured.value)} [{word(measured.low)} to {word(measured.high)}]"


def because(what: str, why: str) -> str:
    """``what: why``, or ``what`` alone when there is no reason to give.

    A reason that already begins with ``what`` is not prefixed again.
    """
    if why.startswith(what):
        return why
    return f"{what}: {why}" if why else what


def listed(items: Iterable[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    *front, last = list(items) or [""]
    return f"{', '.join(front)} and {last}" if front else last


def sentence(text: str) -> str:
    """The text with a full stop, for joining with another sentence."""
    text = text.rstrip()
    return text if not text or text[-1] in ".!?:" else f"{text}."


def clean(text: str) -> str:
    """One line without control, direction-changing or lone surrogate characters.

    What a ledger quotes may come from a stranger's file. A line break, with the
    white space around it, becomes one space; what could act on a terminal or hide
    text is shown escaped. Files below the working directory are named from there.
    """
    return "".join(map(_visible, _BREAK.sub(" ", from_here(text))))


def from_here(text: str, here: str | None = None) -> str:
    """``text`` with the files in it that lie below ``here`` named relative to it."""
    base = (os.getcwd() if here is None else here).rstrip("/")  # noqa: PTH109 - text, not files
    return text.replace(f"{base}/", "") if base else text


def clean_block(text: str) -> str:
    """As :func:`clean`, keeping line breaks and indentation."""
    lines = from_here(text).expandtabs(4).splitlines()
    return "\n".join("".join(map(_visible, line)) for line in lines)


def _visible(char: str) -> str:
    if char.isascii() and char.isprintable():
        return char
    hidden = unicodedata.category(char) in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")
    return char.encode("unicode_escape").decode() if hidden else char


def path(file: str, here: str | None = None) -> str:
    """``file`` relative to ``here`` (default: the working directory) when below it."""
    base = (os.getcwd() if here is None else here).rstrip("/\\")  # noqa: PTH109 - text, not files
    for separator in ("/", "\\"):
        if base and file.startswith(base + separator):
            return file[len(base) + 1 :]
    return file


def place(where: Place | None, width: int = 0, here: str | None = None) -> str:
    """``file:line`` in at most ``width`` characters (0: any), cut from the left.

    The file's name and the line survive the cut; ``""`` when there is no place.
    """
    if where is None:
        return ""
    return cut_left(clean(str(Place(path(where.file, here), where.line))), width)


def cut_left(text: str, width: int) -> str:
    """``text`` in at most ``width`` characters (0: any), its beginning replaced by ``…``.

    The cut falls on a ``/`` where one is near enough.
    """
    if not width or len(text) <= width:
        return text
    tail = text[len(text) - width + 1 :]
    slash = tail.find("/")
    return "…" + (tail[slash:] if 0 <= slash < len(tail) - 1 else tail)


def cut_right(text: str, width: int) -> str:
    """``text`` in at most ``width`` characters, its end replaced by ``…``."""
    return text if len(text) <= width else text[: width - 1].rstrip() + "…"
