"""Ledgers made by hand, each a whole realistic document."""

from __future__ import annotations

from dataclasses import replace

from compile_ledger.facts.calls import Disposition
from compile_ledger.facts.environment import Capability, Environment
from compile_ledger.facts.place import Place
from compile_ledger.judge.document import (
    LEVELS,
    SCHEMA_VERSION,
    ArmRow,
    CallRow,
    Correctness,
    Cost,
    EnvironmentRow,
    Ledger,
    Level,
    RegionRow,
    Status,
)

LETTERS: dict[str, Disposition] = {
    "C": "compiled",
    "R": "recompiled",
    ".": "reused",
    "X": "refused",
    "E": "fell_back",
    "O": "switched_off",
    "s": "skipped",
    "!": "raised",
}

SERVICE = Place("/srv/app/examples/varlen_service.py", 58, "<module>")
FULL = "compile-ledger audit --full examples/varlen_service.py:workload"

ENVIRONMENT = EnvironmentRow(
    environment=Environment(
        torch="2.13.0+cpu",
        python="3.11.7",
        platform="Linux-6.1-x86_64",
        processor="x86_64",
        cores=2,
        threads=1,
        variables={"TORCHINDUCTOR_CACHE_DIR": "/tmp/arm/inductor"},  # noqa: S108 - text only
        load=0.31,
    ),
    capabilities=(
        Capability("entry-runs", present=True, shows="how often each entry ran"),
        Capability(
            "rejections",
            present=False,
            why="this torch does not count guard refusals",
            shows="how often each entry refused a call",
        ),
    ),
    changed=("hook: OptimizeContext.enter_exit_hooks",),
)


def calls(letters: str, costs: dict[str, float], region: int = 0) -> tuple[CallRow, ...]:
    """A call for each letter of ``letters``; ``costs`` maps a letter to CPU seconds."""
    return tuple(
        CallRow(region, LETTERS[char], int(costs[char] * 1.1e9), int(costs[char] * 1e9), index)
        for index, char in enumerate(letters)
    )


def eager_calls(number: int, seconds: float, region: int = 0) -> tuple[CallRow, ...]:
    """``number`` calls of an eager arm, ``seconds`` of CPU each."""
    nanoseconds = int(seconds * 1e9)
    return tuple(CallRow(region, None, nanoseconds, nanoseconds, index) for index in range(number))


def arm(name: str, rows: tuple[CallRow, ...], change: str = "", cpu: float = 4.0) -> ArmRow:
    """An arm that finished and kept every call."""
    return ArmRow(name, change, "finished", "", cpu * 1.2, cpu, 1, rows, len(rows), 412_000_000)


def levels(
    *statuses: tuple[Status, str], findings: dict[str, str] | None = None
) -> tuple[Level, ...]:
    """Five levels; every level after the first failure is marked so."""
    made: list[Level] = []
    failed = False
    for name, (status, why) in zip(LEVELS, statuses, strict=True):
        ids = tuple(key for key, level in (findings or {}).items() if level == name)
        made.append(Level(name, status, why, ids, after_failure=failed))
        failed = failed or status == "fails"
    return tuple(made)


def unmeasured(why: str, number: int) -> list[tuple[Status, str]]:
    """``number`` levels without evidence, for one reason."""
    return [("not_measured", why)] * number


def ledger(**fields: object) -> Ledger:
    """A ledger with nothing in it but ``fields``."""
    empty = Ledger(
        schema_version=SCHEMA_VERSION,
        tool_version="0.1.0",
        target="examples/varlen_service.py:workload",
        diagnosis=None,
        unproven=None,
        levels=levels(*unmeasured("no arm was run", 5)),
        regions=(),
        code_objects=(),
        breaks=(),
        findings=(),
        experiments=(),
        arms=(),
        cost=Cost(why="no compiled arm was timed"),
        correctness=Correctness(why="no compiled arm was run"),
        environment=ENVIRONMENT,
        not_measured=(),
    )
    return replace(empty, **fields)  # type: ignore[arg-type]


def region(letters: str, code_objects: tuple[int, ...] = (0,), **kwargs: str) -> RegionRow:
    """The service's region with the dispositions that ``letters`` spell."""
    counts: dict[str, int] = {name: letters.count(char) for char, name in LETTERS.items()}
    return RegionRow(0, SERVICE, "Transformer.forward", kwargs, len(letters), counts, code_objects)
