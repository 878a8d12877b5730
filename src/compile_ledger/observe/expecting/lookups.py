"""Guard lookups, hits and misses apart, counted for all entries there are."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from types import BuiltinFunctionType
from typing import Any

from compile_ledger.observe.capabilities import need
from compile_ledger.observe.recording.session import MANY, Session, counted

_SLOT = "set_guard_complete_hook"


_TRUE, _FALSE = (True, MANY), (False, MANY)


class Lookups:
    """Counts guard lookups that found an entry and that found none, all in C.

    The runtime asks the hook with True or False and takes the truth of its answer. The
    answer is one of two objects whose truth is a counter's next item, so no Python frame
    runs: one in that slot that raises would end the interpreter.
    """

    def __init__(self) -> None:
        """Nothing is installed yet."""
        self._hits: itertools.repeat[bool] = itertools.repeat(*_TRUE)
        self._misses: itertools.repeat[bool] = itertools.repeat(*_FALSE)
        hit = type("Hit", (), {"__bool__": self._hits.__next__})()
        miss = type("Miss", (), {"__bool__": self._misses.__next__})()
        self.hook: Callable[[Any], Any] = (miss, hit).__getitem__

    @property
    def hits(self) -> int:
        """Lookups that an entry took."""
        return counted(self._hits)

    @property
    def misses(self) -> int:
        """Lookups that every entry refused."""
        return counted(self._misses)

    def install(self, session: Session) -> None:
        """Put the hook in its slot. Raises where there is none or it is taken."""
        from torch._C._dynamo import eval_frame

        need(eval_frame, _SLOT)
        put = eval_frame.set_guard_complete_hook
        if not isinstance(put, BuiltinFunctionType):
            msg = "a recorder of ours holds the guard hook"
            raise RuntimeError(msg)  # noqa: TRY004  the type is how it is told
        theirs = put(self.hook)
        if theirs is not None:
            put(theirs)
            msg = "another guard hook is in place; it was left alone"
            raise RuntimeError(msg)
        session.restore.append(lambda: put(None))
