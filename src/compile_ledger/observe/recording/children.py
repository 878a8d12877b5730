"""Forks: the child goes on recording, to a file of its own and with counts of its own."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from .session import Session

_LATE = -100
"""The priority of our exit handler in a multiprocessing child: after the program's own."""


class _Anchor:
    """Something alive for multiprocessing's table of what to call after a fork."""


_anchor = _Anchor()


def arrange(in_child: Callable[[], None], at_exit: Callable[[], None]) -> None:
    """Call ``in_child`` after each fork, and ``at_exit`` when a child ends in order.

    Children of multiprocessing leave by ``os._exit``, so ``atexit`` does not run there.
    """
    from multiprocessing import process, util

    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=in_child)
    finalize: Any = util.Finalize
    register: Any = util.register_after_fork
    register(_anchor, lambda _: finalize(None, at_exit, exitpriority=_LATE))
    if process.parent_process() is not None:
        finalize(None, at_exit, exitpriority=_LATE)


def forget_inherited(session: Session) -> None:
    """Drop what only the parent's threads could finish."""
    session.sink.lost.clear()
