"""The finding ``toolchain-missing``: inductor has no working C++ compiler."""

from __future__ import annotations

from .choose import Arms
from .document import Evidence, Finding
from .instruments import instrument

REMEDY = "install g++ (Debian: apt-get install g++) or set CXX to a C++ compiler"


def toolchain_missing(arms: Arms, own_backend: str) -> Finding | None:
    """Say so when the workload asks for inductor and no compiler is there."""
    if own_backend != "inductor":
        return None
    for arm in arms.values():
        if arm.toolchain and arm.toolchain.status == "missing":
            why = arm.toolchain.why or "inductor finds no C++ compiler"
            return Finding(
                id="toolchain-missing",
                slug="toolchain-missing",
                level="RUNS",
                severity="failure",
                sentence=f"no working C++ compiler for inductor: {why}; {REMEDY}",
                evidence=(Evidence(instrument("C++ compiler", arm, "inductor's look-up"), why),),
            )
    return None
