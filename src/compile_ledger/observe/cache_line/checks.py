"""The guard checks of a region's root as functions, for timing them by themselves.

Copies of the guards are checked: the runtime's own would count each refusal, and would
ask the guard that refused first from then on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from compile_ledger.observe.capabilities import need

from .lookup import is_valid, raw_entries, root_manager
from .target import Target

Check = Callable[[dict[str, Any]], bool]
"""Takes the locals that a frame would start with; True: the entry takes the call."""


def checks(target: Target) -> list[Check]:
    """The check of each entry in lookup order. Raises ``MissingError`` on a torch without copies.

    Entries whose object is gone are left out: the runtime does not ask them.
    """
    found = []
    for entry in raw_entries(target.code, target.isolate_id):
        if is_valid(entry):
            root = root_manager(entry)
            need(root, "clone_manager")
            found.append(root.clone_manager(_everything).check)
    return found


def no_check() -> Check:
    """The check of an entry without a guard: what asking takes by itself."""
    from torch._C._dynamo import guards

    need(guards, "RootGuardManager")
    check: Check = guards.RootGuardManager().check
    return check


def _everything(_manager: Any) -> bool:
    return True
