"""Starts the recorder right after the program imports ``torch._dynamo``, and not before.

Nothing happens in a process that never compiles; inductor's compile workers are left alone.
"""

from __future__ import annotations

import atexit
import os
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType

VARIABLE = "COMPILE_LEDGER_RECORD"
"""The folder to record to; unset or empty: do nothing."""

_TARGET = "torch._dynamo"
_WORKER = "torch._inductor.compile_worker"
_done: list[int] = []
"""The process that was told to record: a fork of it may be the one that compiles."""


def activate() -> None:
    """Arrange for the recorder to start, where :data:`VARIABLE` asks for it. Once a process."""
    folder = os.environ.get(VARIABLE)
    if not folder or _done or any(_WORKER in word for word in sys.orig_argv):
        return
    _done.append(os.getpid())
    atexit.register(_goodbye)  # Registered first, so run last: after the program's own.
    folder = os.environ[VARIABLE] = os.path.abspath(folder)  # noqa: PTH100  for the children
    if _TARGET in sys.modules:
        _begin(folder)
    else:
        sys.meta_path.insert(0, _Finder(folder))


def _goodbye() -> None:
    live = sys.modules.get("compile_ledger.observe.recording.live")
    if live is not None:
        live.at_exit()


def _begin(folder: str) -> None:
    from compile_ledger.observe.recording.live import from_environment

    from_environment(folder, forked_from=_done[0] if _done[0] != os.getpid() else None)


class _Finder:
    """Finds one module as the others do, and starts the recorder once it has run."""

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The spec that the next finder gives, with our loader around its own."""
        if name != _TARGET:
            return None
        if self in sys.meta_path:
            sys.meta_path.remove(self)
        found = (
            finder.find_spec(name, path, target)
            for finder in sys.meta_path
            if hasattr(finder, "find_spec")
        )
        spec = next((spec for spec in found if spec is not None), None)
        if spec is not None and hasattr(spec.loader, "exec_module"):
            spec.loader = _Loader(spec.loader, self._folder)  # type: ignore[assignment]
        return spec


class _Loader:
    """Runs the module as its own loader does, then steps aside."""

    def __init__(self, own: Any, folder: str) -> None:
        self._own = own
        self._folder = folder

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """As the module's own loader."""
        made: ModuleType | None = self._own.create_module(spec)
        return made

    def exec_module(self, module: ModuleType) -> None:
        """Run the module with its own loader in place, then start the recorder."""
        module.__loader__ = self._own
        if module.__spec__ is not None:
            module.__spec__.loader = self._own
        self._own.exec_module(module)
        _begin(self._folder)

    def __getattr__(self, name: str) -> Any:
        """Whatever else is asked of a loader."""
        return getattr(self._own, name)
