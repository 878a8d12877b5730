"""What the user names: a script, a module, or a name in a file."""

from __future__ import annotations

import ast
import os
import re
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


_READS = re.compile(
    r"\bsys\.argv\b|\bfrom sys import [^\n]*\bargv\b|\bHfArgumentParser\b|^\s*(?:import|from) +"
    r"(?:argparse|optparse|getopt|click|typer|fire|docopt|absl|tyro|hydra|simple_parsing|plac)\b",
    re.MULTILINE,
)
"""How a source reads its arguments."""


def reads_arguments(target: Target) -> bool:
    """Whether the source of a program reads arguments; False where it is not found."""
    return _READS.search(_source(target)) is not None


def only_defines(target: Target) -> bool:
    """Whether a script calls nothing itself: it defines, imports, and ends."""
    try:
        body = ast.parse(_source(target)).body
    except (SyntaxError, ValueError):
        return False
    passive = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)
    acts = [
        node
        for node in body
        if not isinstance(node, (*passive, ast.Assign, ast.AnnAssign))
        and not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
    ]
    return bool(body) and not acts


def _source(target: Target) -> str:
    path = Path(target.path)
    if target.kind == "module":
        path = Path(*target.path.split("."))
        found = (path.with_suffix(".py"), path / "__main__.py")
        path = next((one for one in found if one.is_file()), path)
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
