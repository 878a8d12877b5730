"""Reads Python stacks: the user's lines, and the region that a compile belongs to."""

from __future__ import annotations

import ast
import linecache
import sys
from typing import TYPE_CHECKING

from compile_ledger.facts.place import Lines, Place, Raised, lines_of, origin

from .recording.session import is_library, is_ours

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType, TracebackType

_WRAPPERS = ("compile_wrapper", "_fn")
"""The function that ``torch.compile`` returns, as torch names it (2.13; 2.6)."""

_LONGEST = 2000


def callers(depth: int = 1) -> Iterator[FrameType]:
    """The frames above the caller, innermost first."""
    frame: FrameType | None = sys._getframe(depth)  # noqa: SLF001
    while frame is not None:
        yield frame
        frame = frame.f_back


def is_users(file: str) -> bool:
    """Whether a file is neither torch's, the standard library's nor ours."""
    return not (is_ours(file) or is_library(file))


def is_program(file: str) -> bool:
    """Whether a file is the user's own, and not of a package that they installed."""
    return is_users(file) and origin(file) == "program"


def lines_here(depth: int = 2) -> Lines:
    """The user's line on the present stack, and the library's line that it led to."""
    found = [
        Place(frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name)
        for frame in callers(depth + 1)
        if is_users(frame.f_code.co_filename)
    ]
    return lines_of(reversed(found))


def wrapper_frame(depth: int = 3) -> FrameType | None:
    """The frame of the function that ``torch.compile`` returned, innermost on the stack."""
    return next((frame for frame in callers(depth) if is_wrapper(frame)), None)


def is_wrapper(frame: FrameType) -> bool:
    """Whether a frame is that of the function that ``torch.compile`` returned.

    ``torch.compiler.disable`` returns one of the same name, under another context.
    """
    code = frame.f_code
    if code.co_name not in _WRAPPERS or not code.co_filename.endswith("eval_frame.py"):
        return False
    return type(frame.f_locals.get("self")).__name__ == "OptimizeContext"


def entered_by_region() -> bool:
    """Whether the frame that Dynamo is asked about is its region's first that is not torch's.

    It is not on the stack yet: its caller is, below our own frames.
    """
    for frame in callers(2):
        if is_wrapper(frame):
            return True
        file = frame.f_code.co_filename
        if not (is_ours(file) or is_library(file)):
            return False
    return False


def is_written(file: str) -> bool:
    """Whether somebody wrote a file who is neither torch, Python nor this package."""
    return is_users(file) and origin(file) != "generated"


def _frames(traceback: TracebackType | None) -> Iterator[Place]:
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if is_written(code.co_filename):
            yield Place(code.co_filename, traceback.tb_lineno, code.co_name)
        traceback = traceback.tb_next


def describe(error: BaseException, caller: Place | None = None) -> Raised:
    """An exception as a fact, with the user's lines of its traceback.

    ``caller`` is the user's line that led there, for a traceback that begins below it.
    """
    kind = type(error)
    name = (
        kind.__qualname__
        if kind.__module__ == "builtins"
        else f"{kind.__module__}.{kind.__qualname__}"
    )
    frames = tuple(dict.fromkeys((*_frames(error.__traceback__), *_compiler_frames(error))))
    if caller is not None and not any(is_program(place.file) for place in frames):
        frames = (caller, *frames)
    return Raised(
        type=name,
        message=str(error)[:_LONGEST],
        place=lines_of(frames).user,
        frames=frames[-20:],
        create_graph=_create_graph(frames) if "double backward" in str(error) else (),
    )


def _create_graph(frames: tuple[Place, ...]) -> tuple[Place, ...]:
    """Where the program's files ask for a graph of gradients: a traceback does not show it."""
    files = dict.fromkeys(place.file for place in frames if is_program(place.file))
    return tuple(found for file in files for found in _calls_with(file, "create_graph"))


def _calls_with(file: str, keyword: str) -> Iterator[Place]:
    """Calls in a file that give ``keyword=True``."""
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except (SyntaxError, ValueError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and any(_is_true(k, keyword) for k in node.keywords):
            yield Place(file, node.lineno)


def _is_true(given: ast.keyword, name: str) -> bool:
    return given.arg == name and isinstance(given.value, ast.Constant) and given.value.value is True


def _compiler_frames(error: BaseException) -> tuple[Place, ...]:
    """The stack that torch attaches to its own errors (``real_stack``): what it traced."""
    summary = getattr(error, "real_stack", None) or ()
    places = (Place(f.filename, f.lineno or 0, f.name) for f in summary)
    return tuple(place for place in places if is_written(place.file))
