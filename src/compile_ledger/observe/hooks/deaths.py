"""Entries that end because an object that they guard was freed: what they held until then.

The runtime drops an entry's guards when the first object dies that they name; at the end
of a process that is every entry. Nothing is kept alive: guards are read when it happens.
"""

from __future__ import annotations

from typing import Any

from compile_ledger.observe.capabilities import need
from compile_ledger.observe.recording.session import Death, Session

from .entries import entry_of
from .own_code import ours
from .stand_in import stand_in


def install(session: Session) -> None:
    """Patch what drops an entry. Raises ``MissingError`` on a torch without it."""
    from torch._dynamo import guards

    need(guards, "CheckFunctionManager")
    owner = guards.CheckFunctionManager
    need(owner, "invalidate")
    original = owner.invalidate

    def invalidate(self: Any, *args: Any, **kwargs: Any) -> Any:
        session.contained(_note, session, self)
        return original(self, *args, **kwargs)

    stand_in(session, owner, "invalidate", invalidate)


@ours
def _note(session: Session, checker: Any) -> None:
    raw = getattr(getattr(checker, "guard_manager", None), "cache_entry", None)
    state = None if raw is None or session.ended else entry_of(session, raw.code)
    if state is None or state.died is not None:
        return
    from compile_ledger.observe.cache_line.entry import as_entry

    code = next((c.code() for c in session.codes.values() if c.fact.id == state.code_object), None)
    if code is None:
        return
    entry = as_entry(raw, code, [], {}, guards=session.unread > 0)
    session.unread -= len(entry.guards)
    state.died = Death(session.calls_on(state.code_object), entry)
