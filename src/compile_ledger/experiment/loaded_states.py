"""State by name: what ``load_state_dict(strict=False)`` left as it was, without a word.

A checkpoint of a module that ``torch.compile`` made has ``_orig_mod.`` in its keys.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

from compile_ledger.facts.arm import MissedState
from compile_ledger.observe.hooks.stand_in import hide, stand_in
from compile_ledger.observe.stack import lines_here

if TYPE_CHECKING:
    from collections.abc import Iterable

    from compile_ledger.observe.recording.session import Session

WATCHED = "calls of Module.load_state_dict watched"
_PREFIX = "_orig_mod."


class LoadedStates:
    """The modules whose last ``load_state_dict`` missed keys for their prefix alone."""

    def __init__(self, session: Session) -> None:
        """Watch each call from now on, until the recorder is taken out."""
        import torch

        self._missed: dict[int, tuple[weakref.ref[Any], MissedState]] = {}
        original = torch.nn.Module.load_state_dict

        def load_state_dict(module: Any, *args: Any, **kwargs: Any) -> Any:
            try:
                found = original(module, *args, **kwargs)
            except BaseException as error:
                hide(error)
                raise
            session.contained(self._note, module, found)
            return found

        stand_in(session, torch.nn.Module, "load_state_dict", load_state_dict)

    def facts(self) -> list[MissedState]:
        """What was missed and not loaded later, the earlier first."""
        return [fact for _, fact in self._missed.values()]

    def _note(self, module: Any, found: Any) -> None:
        wanted, given = _by_bare_name(found.missing_keys), _by_bare_name(found.unexpected_keys)
        same = [name for name in wanted if name in given and wanted[name] != given[name]]
        before = self._missed.get(id(module))
        if not same:
            if before is not None and before[0]() is module:
                del self._missed[id(module)]
            return
        first = same[0]
        fact = MissedState(lines_here().user, len(same), given[first], wanted[first])
        self._missed[id(module)] = weakref.ref(module), fact


def _by_bare_name(keys: Iterable[str]) -> dict[str, str]:
    return {key.replace(_PREFIX, ""): key for key in keys}
