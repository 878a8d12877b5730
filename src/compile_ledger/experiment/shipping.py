"""Ships a callable and its calls to fresh processes, by cloudpickle.

Only our own processes read what is written here, in a folder that we made.
"""

from __future__ import annotations

import dataclasses
import io
import sys
from pathlib import Path
from typing import Any

import compile_ledger
from compile_ledger.facts.contract import Contract
from compile_ledger.judge.document import Ledger, NotMeasured, Unproven
from compile_ledger.judge.ledger import judge
from compile_ledger.observe.cache_line.target import is_compiled, name_of
from compile_ledger.observe.compiled import compiled, compiled_in_place

from .targets import Target
from .workload import Workload


class CannotShipError(Exception):
    """The workload cannot be sent to another process; the message says what and why."""


def ship(workload: Workload, folder: Path) -> Target:
    """Write the workload to ``folder``. Raises :class:`CannotShipError`.

    What is compiled already is compiled anew in the other process, with the same keyword
    arguments: compiled code cannot be sent.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "workload.pickle"
    calls = list(workload.each_call())
    shipped = Workload(**{**vars(workload), "calls": calls})
    try:
        content = _pickled(shipped)
    except Exception as error:
        why = f"{type(error).__name__}: {error}"
        msg = f"{name_of(workload.fn)} cannot be sent to a fresh process: {why}"
        raise CannotShipError(msg[:300]) from error
    path.write_bytes(content)
    return Target("pickled", str(path), text="the workload")


def _pickled(workload: Workload) -> bytes:
    import cloudpickle

    class Shipper(cloudpickle.Pickler):  # type: ignore[misc]  # it has no types
        def reducer_override(self, obj: Any) -> Any:
            if is_compiled(obj) and not _importable(obj):
                found = compiled(obj)
                return found and (_compile, (found.fn, found.kwargs))
            if compiled_in_place(obj):
                found = compiled(obj)
                if found is not None:
                    made, given, state, *rest = obj.__reduce_ex__(4)
                    state = (state, found.kwargs)
                    return (made, given, state, *([*rest, None, None][:2]), _restore)
            return super().reducer_override(obj)

    stream = io.BytesIO()
    Shipper(stream).dump(workload)
    return stream.getvalue()


def _importable(thing: Any) -> bool:
    """Whether another process finds the same object by its name."""
    module = getattr(thing, "__module__", None)
    found = None if module == "__main__" else sys.modules.get(str(module))
    for part in getattr(thing, "__qualname__", "").split("."):
        found = getattr(found, part, None)
    return found is thing


def _compile(fn: Any, given: dict[str, Any]) -> Any:
    """Compile in the other process what was compiled in this one."""
    import torch

    return torch.compile(fn, **given)


def _restore(module: Any, state: tuple[Any, dict[str, Any]]) -> None:
    """A module whose ``compile`` method had been called."""
    module.__setstate__(state[0])
    module.compile(**state[1])


def nothing_measured(contract: Contract, why: str) -> Ledger:
    """A ledger in which every level says why it was not measured."""
    ledger = judge({}, contract, tool_version=compile_ledger.__version__)
    return _with_reason(ledger, why)


def _with_reason(ledger: Ledger, why: str) -> Ledger:
    remedy = "put the workload in a file: compile-ledger audit FILE:NAME"
    levels = tuple(dataclasses.replace(level, why=why) for level in ledger.levels)
    missing = tuple(NotMeasured(level.level, why, remedy) for level in levels)
    return dataclasses.replace(
        ledger,
        levels=levels,
        not_measured=missing,
        verdict=f"nothing was measured: {why}",
        unproven=Unproven("RUNS", why, remedy),
    )
