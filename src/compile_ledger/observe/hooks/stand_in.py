"""Functions of ours in the place of torch's: neither its logs nor a traceback shows them.

torch leaves frames of its own files out of what it logs of a stack, and takes every
other one for the user's. So a stand-in carries the file name, name and line of the
function that it calls, and its frame is taken out of an exception that passes it.
"""

from __future__ import annotations

import functools
import sys
from typing import TYPE_CHECKING, Any

from .own_code import is_ours_code, ours

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType

    from compile_ledger.observe.recording.session import Session


def stand_in(session: Session, owner: Any, name: str, function: Callable[..., Any]) -> None:
    """Put ``function`` in the place of ``owner.name`` until the recorder is taken out."""
    original = getattr(owner, name)
    functools.update_wrapper(function, original)
    own: Any = function
    own.__code__ = _looks_like(own.__code__, getattr(original, "__code__", None))
    setattr(owner, name, ours(own))
    session.restore.append(functools.partial(setattr, owner, name, original))


def _looks_like(code: CodeType, theirs: CodeType | None) -> CodeType:
    if theirs is None:
        return code
    names = {"co_name": theirs.co_name, "co_filename": theirs.co_filename}
    if sys.version_info >= (3, 11):
        names["co_qualname"] = theirs.co_qualname
    return code.replace(**names, co_firstlineno=theirs.co_firstlineno)  # type: ignore[arg-type]


def hide(error: BaseException) -> None:
    """Take the stand-in's frame out of the traceback of an exception that goes on.

    To be followed by a bare ``raise``, which adds no frame (Python 3.11 and later; before
    that the frame stays, under the other function's name).
    """
    trace = error.__traceback__
    if trace is not None and is_ours_code(trace.tb_frame.f_code):
        error.__traceback__ = trace.tb_next
