"""The finding ``toolchain-missing``: inductor has no working C++ compiler."""

from __future__ import annotations

from compile_ledger.judge.choose import Arms
from compile_ledger.judge.document import Evidence, Finding
from compile_ledger.judge.instruments import instrument

REMEDY = "install g++ (Debian: apt-get install g++) or set CXX to a C++ compiler"
HEADERS = "install Python's headers (Debian: apt-get install python3-dev)"

_SIGNS = {"InvalidCxxCompiler": REMEDY, "Python.h: No such file": HEADERS}
"""What inductor's exceptions say of a machine that cannot build, and what to do."""


def toolchain_missing(arms: Arms, own_backend: str) -> Finding | None:
    """Say so when the workload asks for inductor and no compiler is there."""
    if own_backend != "inductor":
        return None
    for arm in arms.values():
        if arm.toolchain and arm.toolchain.status == "missing":
            why = arm.toolchain.why or "inductor finds no C++ compiler"
            return _finding(instrument("C++ compiler", arm, "inductor's look-up"), why, REMEDY)
        said = f"{arm.raised.type}: {arm.raised.message}" if arm.raised else ""
        for sign, remedy in _SIGNS.items():
            if sign in said:
                return _finding(
                    instrument("exception", arm), said.split("\n", maxsplit=1)[0], remedy
                )
    return None


def _finding(tool: str, why: str, remedy: str) -> Finding:
    return Finding(
        id="toolchain-missing",
        slug="toolchain-missing",
        level="RUNS",
        severity="failure",
        sentence=f"no working C++ compiler for inductor: {why}; {remedy}",
        evidence=(Evidence(tool, why),),
    )
