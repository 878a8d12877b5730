"""H4: guard lookups, hits and misses, on code objects that have entries.

The hook is a C callable and must stay one: a Python function in this slot aborts
the interpreter when an exception, Ctrl-C included, leaves it. The slot is shared
with torch's guard collectives, which therefore take it from us and give it back.
"""

from __future__ import annotations

import functools
import itertools
import sys
from typing import Any

from compile_ledger.observe.capabilities import need
from compile_ledger.observe.recording.session import MANY, Session

from .own_code import ours

_USERS = ("torch._dynamo.eval_frame", "torch._dynamo.decorators")
_STILL_VALID = True
"""What the hook answers: the guards' own result stands."""
_NAME = "set_guard_complete_hook"


def install(session: Session) -> None:
    """Put the counter in the slot. Raises ``MissingError`` where there is no slot."""
    from torch._C._dynamo import eval_frame

    need(eval_frame, _NAME)
    real = eval_frame.set_guard_complete_hook
    count = itertools.repeat(_STILL_VALID, MANY)
    hook = functools.partial(next, count)
    theirs = real(hook)
    if theirs is not None:
        real(theirs)
        msg = "another guard hook is in place; it was left alone"
        raise RuntimeError(msg)
    session.lookups, session.lookups_base = count, 0
    session.restore.append(lambda: real(None))
    _share(session, eval_frame, real, hook)


def _share(session: Session, owner: Any, real: Any, hook: Any) -> None:
    """Let a later user of the slot have it, and take it back when they leave."""
    user: list[Any] = [None]

    def set_guard_complete_hook(given: Any) -> Any:
        before, user[0] = user[0], given
        real(hook if given is None else given)
        return before

    shim = ours(set_guard_complete_hook)
    for module in (owner, *(sys.modules.get(name) for name in _USERS)):
        if module is not None and getattr(module, _NAME, None) is real:
            setattr(module, _NAME, shim)
            session.restore.append(functools.partial(setattr, module, _NAME, real))
