"""How often each entry's guards refused a call: a counter that torch keeps by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from compile_ledger.observe.capabilities import need

if TYPE_CHECKING:
    from compile_ledger.observe.recording.session import Session


def available() -> None:
    """Raise ``MissingError`` on a torch whose guards do not count."""
    from torch._C._dynamo import eval_frame, guards

    need(eval_frame, "_debug_get_cache_entry_list")
    need(guards.RootGuardManager, "fail_count")


def read(session: Session) -> dict[int, int]:
    """Refusals by ``id`` of the entry's state, of the entries that still exist.

    Reading is free of side effects; a fork's child reads its parent's refusals, too,
    so inherited entries are left out.
    """
    from torch._C._dynamo import eval_frame

    by_code = {}
    for state in list(session.codes.values()):
        code = state.code()
        for entry in () if code is None else eval_frame._debug_get_cache_entry_list(code):  # noqa: SLF001
            by_code[id(entry.code)] = entry
    found = {}
    for known in list(session.entries):
        new = None if known.new_code is None else known.new_code()
        entry = by_code.get(id(new))
        root = getattr(getattr(entry, "guard_manager", None), "root", None)
        if root is not None and not known.inherited:
            found[id(known)] = int(root.fail_count())
    return found
