"""What the user names: a script, a module, or a name in a file."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

TargetKind = Literal["script", "module", "name", "pickled"]


class TargetError(ValueError):
    """The target cannot be audited: one line, with the remedy."""


@dataclass(frozen=True)
class Target:
    """A parsed target. ``path`` is absolute except for a module."""

    kind: TargetKind
    path: str
    name: str = ""
    argv: tuple[str, ...] = ()
    text: str = ""
    """As the user wrote it."""


def parse_target(text: str, argv: tuple[str, ...] = (), *, module: bool = False) -> Target:
    """``script.py``, ``file.py:name``, or with ``module`` a dotted module name.

    Raises :class:`TargetError` when the file does not exist or is no Python file.
    """
    if module:
        return Target("module", text, argv=argv, text=f"-m {text}")
    path, name = _split(text)
    if name and not path:
        msg = f"{text} names no file: give file.py{text}, a script, or -m module"
        raise TargetError(msg)
    if path and Path(path).is_dir():
        msg = f"{path} is a directory: give a script in it, file.py:name, or -m module"
        raise TargetError(msg)
    if not Path(path).is_file():
        msg = f"{path} does not exist: give a script, file.py:name, or -m module"
        raise TargetError(msg)
    if name and argv:
        msg = f"{text} names a function: arguments after -- go to scripts and modules only"
        raise TargetError(msg)
    return Target("name" if name else "script", os.path.abspath(path), name, argv, text)  # noqa: PTH100


def _split(text: str) -> tuple[str, str]:
    """The file and the name; a colon belongs to the path when what follows is no name."""
    path, colon, name = text.rpartition(":")
    if colon and name.replace(".", "_").isidentifier():
        return path, name
    return text, ""
