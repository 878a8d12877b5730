"""A program that cannot run is told as Python would: what stopped it, its causes, the line."""

from __future__ import annotations

import importlib.util
import traceback
from collections.abc import Iterator
from pathlib import Path

from compile_ledger.observe.stack import describe

from .targets import Target

_DEEPEST = 5


def stops_before_compiling(error: BaseException, *, regions: int) -> bool:
    """Whether ``error``, raised before any region was called, cannot be the compiler's doing.

    Nothing was compiled yet, or it is one that a wrapper around a module does not raise.
    """
    return not regions or isinstance(error, (ImportError, OSError, SyntaxError))


def cannot_run(target: Target, error: BaseException) -> str:
    """One line: the exception, its chain of causes, the user's line, and what to do."""
    said = [_in_words(error), *(f"caused by {_in_words(cause)}" for cause in _causes(error))]
    return f"{target.text} cannot run: {'; '.join(said)}: {_remedy(target, error)}"


def _causes(error: BaseException) -> Iterator[BaseException]:
    """What Python prints above the exception, the nearest first."""
    seen = {id(error)}
    for _ in range(_DEEPEST):
        hidden = error.__suppress_context__
        cause = error.__cause__ or (None if hidden else error.__context__)
        if cause is None or id(cause) in seen:
            return
        seen.add(id(cause))
        yield cause
        error = cause


def _in_words(error: BaseException) -> str:
    """``ValueError: at import (serve.py:3)``."""
    told = str(error).strip().splitlines()
    if isinstance(error, SyntaxError):
        told = [error.msg]
    message = f": {told[0][:300]}" if told else ""
    at = _place(error)
    return f"{type(error).__name__}{message}{f' ({at})' if at else ''}"


def _place(error: BaseException) -> str:
    """The user's line; of a file that is no Python, the line in it; else the innermost line."""
    if isinstance(error, SyntaxError) and error.filename:
        return f"{error.filename}:{error.lineno}" if error.lineno else error.filename
    place = describe(error).place
    if place is not None:
        return str(place)
    frames = traceback.extract_tb(error.__traceback__)
    return f"{frames[-1].filename}:{frames[-1].lineno}" if frames else ""


def _remedy(target: Target, error: BaseException) -> str:
    for one in (error, *_causes(error)):
        if isinstance(one, ModuleNotFoundError) and one.name:
            return _missing(one.name)
    if isinstance(error, FileNotFoundError) and isinstance(error.filename, str):
        path = Path(error.filename)
        if not path.is_absolute():
            return f"{path} is looked for in {Path.cwd()}: start the audit where it lies"
    how = f"python {target.text}" if target.kind != "name" else f"python {target.path}"
    return f"it has to run as ordinary Python first: {how}"


def _missing(name: str) -> str:
    """What lacks, by whether the package that it belongs to is found here."""
    top = name.partition(".")[0]
    try:
        found = importlib.util.find_spec(top)
    except (ImportError, ValueError):
        return f"the package {top} is there and cannot be imported"
    if found is None:
        return f"the package {top} is not installed here: install it"
    if found.submodule_search_locations is None:
        return f"the file {found.origin} hides the package {top}: rename it"
    return f"{top} is installed and has no {name}: another version of it may"
