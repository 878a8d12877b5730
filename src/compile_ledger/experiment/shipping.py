"""Ships a callable and its calls to fresh processes, by cloudpickle.

Only our own processes read what is written here, in a folder that we made.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path

import compile_ledger
from compile_ledger.facts.contract import Contract
from compile_ledger.judge.document import Ledger, NotMeasured, Unproven
from compile_ledger.judge.ledger import judge

from .targets import Target
from .workload import Workload


class CannotShipError(Exception):
    """The workload cannot be sent to another process; the message says what and why."""


def ship(workload: Workload, folder: Path) -> Target:
    """Write the workload to ``folder``. Raises :class:`CannotShipError`."""
    import cloudpickle

    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "workload.pickle"
    calls = list(workload.each_call())
    shipped = Workload(**{**vars(workload), "calls": calls})
    try:
        content = cloudpickle.dumps(shipped)
    except Exception as error:
        what = getattr(workload.fn, "__qualname__", type(workload.fn).__qualname__)
        msg = f"{what} cannot be sent to a fresh process: {type(error).__name__}: {error}"
        raise CannotShipError(msg[:300]) from error
    path.write_bytes(content)
    return Target("pickled", str(path), text="the workload")


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
