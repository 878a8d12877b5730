"""A guard failure's text without its prefix, its trailing source lines and its hint."""

from __future__ import annotations

import re
from dataclasses import dataclass

from compile_ledger.facts.place import Place

_PREFIX = re.compile(r"^\s*(?:-\s+)?(?:(?P<entry>!?\d+/\d+(?:_\d+)?|None):(?:\s|$))?\s*")
_STACK = re.compile(r"\n\s*(?:-\s+)?User stack trace(.*)", re.DOTALL)
_FRAME = re.compile(r'File "([^"\n]+)", line (\d+), in (\S+)')
_HINT = re.compile(r"\s*\(HINT: (.*?)\)\s*$", re.DOTALL)
_PARAMETER = re.compile(r"\.\s*(Guard failed on a parameter, .*)$", re.DOTALL)
_SPECIAL = re.compile(r"\((user code shown is first use .*)\)\s*$", re.DOTALL)
_DUCK = re.compile(r"^#\s*(duck sizing .*)$", re.DOTALL)
_LINE = re.compile(r"#\s+([^#()\n]*?):(\d+) in (\S+)")
_LOCAL = re.compile(r"\bL\[\s*(['\"])(.*?)\1\s*\]")
_OURS = ("_dynamo/", "_functorch/", "_inductor/", "_subclasses/", "_higher_order_ops/")
"""Files of the compiler: a guard made there has no line of the user's."""


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of one text."""

    body: str
    entry: str
    place: Place | None
    hint: str


def take_apart(text: str) -> Parts:
    """Split a text into the guard itself and what the runtime wrote around it."""
    match = _PREFIX.match(text)
    entry = (match.group("entry") or "") if match else ""
    rest = text[match.end() :] if match else text
    stack = _search(_STACK, rest)
    rest = _STACK.sub("", rest)
    rest, hint = _take(_HINT, rest)
    at = _comment_start(rest)
    body, trailer = (rest, "") if at is None else (rest[:at], rest[at:].strip())
    body, parameter = _take(_PARAMETER, body)
    advice = hint or parameter or _search(_SPECIAL, trailer) or _search(_DUCK, trailer)
    entry = "" if entry == "None" else entry
    return Parts(plain(body.strip()), entry, _innermost(stack) or _place(trailer), advice)


def plain(source: str) -> str:
    """``L['x']`` as ``x``, the way newer versions of torch print it."""
    return _LOCAL.sub(r"\2", source)


def _take(pattern: re.Pattern[str], text: str) -> tuple[str, str]:
    match = pattern.search(text)
    return (text[: match.start()], match.group(1)) if match else (text, "")


def _search(pattern: re.Pattern[str], text: str) -> str:
    match = pattern.search(text)
    return match.group(1) if match else ""


def _comment_start(text: str) -> int | None:
    """Where the trailing ``# source line`` begins; a ``#`` in a string is not it."""
    quote = ""
    for at, char in enumerate(text):
        if quote:
            quote = "" if char == quote and text[at - 1] != "\\" else quote
        elif char in "'\"":
            quote = char
        elif char == "#" and (at == 0 or text[at - 1].isspace()):
            return at
    if not quote:
        return None
    match = re.search(r"\s#\s", text)
    return match.start() + 1 if match else None


def _innermost(stack: str) -> Place | None:
    """The last frame of the user's stack, whose file is not shortened."""
    frames = _FRAME.findall(stack)
    return Place(frames[-1][0], int(frames[-1][1]), frames[-1][2]) if frames else None


def _place(trailer: str) -> Place | None:
    """The last ``# file:line in function`` that is not the compiler's own."""
    found = [m for m in _LINE.finditer(trailer) if not m.group(1).startswith(_OURS)]
    if not found:
        return None
    file, line, function = found[-1].groups()
    return Place(file.strip(), int(line), function)
