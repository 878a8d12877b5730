"""How many compiles are left before a limit refuses one, and which limit that is.

The rules are the runtime's own: the accumulated limit is asked first, so it wins ties;
entries whose object is gone count; attempts that left no entry count as well.
"""

from __future__ import annotations

from types import CodeType
from typing import Any

from compile_ledger.facts.cache_line import Budget

from .attempts import attempts_made
from .lookup import own_entries, total_entries

_LIMIT = ("recompile_limit", "cache_size_limit")
_ACCUMULATED = ("accumulated_recompile_limit", "accumulated_cache_size_limit")


def budget_of(code: CodeType, frame: int | None, context: Any = None, bucket: int = -1) -> Budget:
    """The budget of a code object as the region of ``context`` would meet it.

    ``bucket``: that of the region's ``isolate_recompiles``; -1: the shared one.
    """
    accumulated_name, accumulated = _configured(_ACCUMULATED)
    name, limit = _configured(_LIMIT)
    limit = _own_limit(context) or limit
    if accumulated is None or limit is None:
        return Budget(None, why="this torch has neither limit under a name that is known here")
    made = 0 if frame is None else attempts_made(frame) or 0
    candidates = (
        (accumulated - max(total_entries(code), made), accumulated_name, accumulated),
        (limit - len(own_entries(code, bucket)), name, limit),
    )
    left, which, value = min(candidates, key=lambda found: found[0])
    return Budget(max(0, left), which, value)


def _configured(names: tuple[str, ...]) -> tuple[str, int | None]:
    from torch._dynamo import config

    for name in names:
        value = getattr(config, name, None)
        if value is not None:
            return name, int(value)
    return names[0], None


def _own_limit(context: Any) -> int | None:
    """The limit given to this ``torch.compile`` call, where torch takes one."""
    value = getattr(getattr(context, "callback", None), "_recompile_limit", None)
    return None if value is None else int(value)
