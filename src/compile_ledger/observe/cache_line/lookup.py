"""The runtime's entries of a code object, in the order in which a call asks them."""

from __future__ import annotations

from types import CodeType
from typing import Any


def raw_entries(code: CodeType, isolate_id: int = -1) -> list[Any]:
    """Entries that a region with this bucket asks: its own first, then the shared ones."""
    from torch._C._dynamo import eval_frame

    ask = getattr(eval_frame, "_get_cache_entries_for_region", None)
    if ask is None:
        return listed(eval_frame._debug_get_cache_entry_list(code))  # noqa: SLF001
    own = list(ask(code, isolate_id))
    return own if isolate_id == -1 else [*own, *ask(code, -1)]


def listed(found: Any) -> list[Any]:
    """Entries as a list; torch that chains them gives the first one."""
    if found is None or isinstance(found, list):
        return found or []
    chain = []
    while found is not None:
        chain.append(found)
        found = found.next
    return chain


def own_entries(code: CodeType, isolate_id: int) -> list[Any]:
    """Entries that count against the region's own limit."""
    found = raw_entries(code, isolate_id)
    if isolate_id == -1:
        return found
    return [entry for entry in found if getattr(entry, "isolate_recompiles_id", -1) == isolate_id]


def total_entries(code: CodeType) -> int:
    """Entries of every region together, which count against the accumulated limit."""
    from torch._C._dynamo import eval_frame

    ask = getattr(eval_frame, "_get_total_cache_entry_count", None)
    return int(ask(code)) if ask is not None else len(raw_entries(code))


def manager(entry: Any) -> Any:
    """The guard manager of an entry, the wrapper that also holds the scope."""
    return getattr(entry, "guard_manager", None) or getattr(entry, "check_fn", None)


def root_manager(entry: Any) -> Any:
    """The root of an entry's guard tree."""
    held = manager(entry)
    return getattr(held, "root", held)


def compile_id(entry: Any) -> str:
    """The entry's compile id, ``0/1``; empty where this torch does not keep it."""
    return str(getattr(entry, "compile_id", None) or "")


def is_valid(entry: Any) -> bool:
    """False for an entry whose guarded object was freed."""
    return not type(manager(entry)).__name__.startswith("Deleted") and entry.code is not None


def invalid_why(entry: Any) -> str:
    """Why an entry is no longer valid, in the runtime's words."""
    return str(getattr(manager(entry), "invalidation_reason", None) or "")
