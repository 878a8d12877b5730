"""A place in somebody's source code, and whose code it is."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple


@dataclass(frozen=True, slots=True)
class Place:
    """A line of source: ``file`` as Python names it, ``line`` from 1 (0: unknown)."""

    file: str
    line: int = 0
    function: str = ""

    def __str__(self) -> str:
        """``file:line``, the form that editors and terminals link."""
        return f"{self.file}:{self.line}" if self.line else self.file


Origin = Literal["program", "package", "runtime", "generated"]

_PROMPTS = re.compile(
    r"<(stdin|console|input|(ipython|python)-input-.*|command-.*|doctest .*|pyshell#\d+)>"
)
"""How REPLs and notebooks name what was typed in (CPython, code, IPython, Databricks, IDLE)."""
_GENERATED = re.compile(
    r"<.*>(\.\d+)?|.*/([a-z2-7]{2})/c\2[a-z2-7]{49}\.py|.*/torch_compile_debug/.*"
)
"""No file, as ``<eval_with_key>.3`` and ``<string>``, and what inductor writes: by
``torch._inductor.codecache.get_path``, in a folder of a key's second and third letter."""
_INSTALLED = re.compile(
    r"(?:.*/)?(?:site-packages|dist-packages|[^/]+\.whl|transformers_modules|torch/hub)/(.+)"
)
"""Installed packages, wheels on the path, and code that a model hub brought along."""
_RUNTIME = re.compile(r"(?:torch|functorch|torchgen)/.*")
_STDLIB = re.compile(r".*/lib(?:64)?/python3\.\d+t?/.*")
_LAUNCHER = re.compile(r"(?:.*/)?(?:bin|Scripts)/[^/.]+(?:\.exe/__main__\.py)?")
"""The scripts that pip writes to start a package's main function."""
_LONGEST_LAUNCHER = 12
"""Lines of such a script: 8 by pip, 10 by uv."""


def origin(file: str) -> Origin:
    """Whose code a file holds, as its name tells.

    ``program``: the user's own, wherever it lies, notebooks and prompts included.
    ``package``: one that was installed. ``runtime``: torch or the standard library.
    ``generated``: written by the compiler or by ``exec``, and nobody's to edit.
    """
    plain = file.replace("\\", "/")
    if _PROMPTS.fullmatch(plain):
        return "program"
    if _GENERATED.fullmatch(plain):
        return "generated"
    installed = _INSTALLED.fullmatch(plain)
    if installed:
        return "runtime" if _RUNTIME.fullmatch(installed.group(1)) else "package"
    return "runtime" if _STDLIB.fullmatch(plain) else "program"


def within_package(place: Place) -> str:
    """``transformers/utils/generic.py:1112``: a library's file without where it is installed."""
    found = _INSTALLED.fullmatch(place.file.replace("\\", "/"))
    return f"{found.group(1)}:{place.line}" if found else str(place)


class Lines(NamedTuple):
    """Where a stack leads: the user's line, and the line of a library that it led to."""

    user: Place | None = None
    library: Place | None = None
    """The innermost line, where that is a library's."""


def lines_of(stack: Iterable[Place]) -> Lines:
    """The user's line of a stack (outermost first): its innermost line of the program.

    Torch, the standard library and generated code are passed over; a stack that begins in
    ``<string>`` is of ``python -c``. In a stack of installed
    packages alone (``python -m package``, a command that pip installed) the outermost
    package is the program.
    """
    kept = [(at, origin(at.file)) for at in stack]
    first = kept[0][0] if kept else None
    if first is not None and (first.file, first.function) == ("<string>", "<module>"):
        kept = [(at, "program" if at.file == "<string>" else of) for at, of in kept]
    named = [(at, of) for at, of in kept if of in ("program", "package")]
    own = [at for at, of in named if of == "program" and not _launches(at)]
    if named and not own:
        others = [at for at, of in named if of == "package"]
        outer = _package(others[0]) if others else ""
        own = [at for at in others if _package(at) == outer] or [named[-1][0]]
    user = own[-1] if own else None
    return Lines(user, named[-1][0] if named and named[-1][0] != user else None)


def _launches(at: Place) -> bool:
    """Whether a line is of a script that pip wrote: eight lines, the last calls a package."""
    launcher = _LAUNCHER.fullmatch(at.file.replace("\\", "/"))
    return at.function == "<module>" and at.line <= _LONGEST_LAUNCHER and launcher is not None


def _package(at: Place) -> str:
    return within_package(at).partition("/")[0]


@dataclass(frozen=True, slots=True)
class Raised:
    """An exception that left a call or a frame."""

    type: str
    """The class name, with its module unless it is a builtin."""
    message: str
    """The first 2,000 characters of ``str(exception)``."""
    place: Place | None = None
    """The user's line of the traceback, as :func:`lines_of` finds it."""
    frames: tuple[Place, ...] = ()
    """The traceback without torch, the standard library and generated code, outermost first."""
    create_graph: tuple[Place, ...] = ()
    """Of an exception about a double backward: the program's lines with ``create_graph=True``."""

    @property
    def library(self) -> Place | None:
        """The line of a library that the user's line led to."""
        return lines_of(self.frames).library
