"""Reads Python stacks: the user's lines, and the region that a compile belongs to."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from compile_ledger.facts.place import Place, Raised

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
    return is_users(file) and "site-packages" not in file and "dist-packages" not in file


def user_site() -> Place | None:
    """The innermost line of the user's on the present stack."""
    for frame in callers(2):
        if is_users(frame.f_code.co_filename):
            return Place(frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name)
    return None


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


def _frames(traceback: TracebackType | None) -> Iterator[Place]:
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if is_users(code.co_filename):
            yield Place(code.co_filename, traceback.tb_lineno, code.co_name)
        traceback = traceback.tb_next


def describe(error: BaseException) -> Raised:
    """An exception as a fact, with the user's lines of its traceback."""
    kind = type(error)
    name = (
        kind.__qualname__
        if kind.__module__ == "builtins"
        else f"{kind.__module__}.{kind.__qualname__}"
    )
    frames = tuple(_frames(error.__traceback__)) or _compiler_frames(error)
    return Raised(
        type=name,
        message=str(error)[:_LONGEST],
        place=frames[-1] if frames else None,
        frames=frames[-20:],
    )


def _compiler_frames(error: BaseException) -> tuple[Place, ...]:
    """The user's stack that torch attaches to its own errors (``real_stack``)."""
    summary = getattr(error, "real_stack", None) or ()
    places = (Place(f.filename, f.lineno or 0, f.name) for f in summary)
    return tuple(place for place in places if is_users(place.file))
