"""What a lost line can have said is never taken for its absence."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from compile_ledger.facts.arm import Goodbye, Header
from compile_ledger.facts.calls import Counters, EntryRuns, RegionCalls
from compile_ledger.facts.codec import FORMAT, VERSION, encode
from compile_ledger.facts.compile import Compile
from compile_ledger.facts.contract import Contract
from compile_ledger.facts.region import CodeObject, Region
from compile_ledger.judge.ledger import judge
from compile_ledger.read.recording import read_arm

ROOT = "serve.py"


def recording(*compiles: Compile, calls: int, runs: int, silent: int = 0) -> list[Any]:
    """One region of a service that was recorded to its end."""
    return [
        Header(FORMAT, VERSION, "test", 1, arm="recorded"),
        Region(0, "encode", root=0),
        CodeObject(0, "encode", ROOT, 9),
        *compiles,
        Counters(9, (RegionCalls(0, calls),), (EntryRuns(0, "0/0", runs),), runs + silent, silent),
        Goodbye("finished"),
    ]


def made(outcome: Any, call: int, **fields: Any) -> Compile:
    kept = outcome in ("compiled", "recompiled")
    fields = {"graph_ops": 3 if kept else None, "compile_id": f"0/{call}", **fields}
    return Compile(0, outcome, region=0, call=call, started_ns=call + 1, **fields)


def recurring() -> list[Compile]:
    reason = "tensor 'x' size mismatch at index 0. expected {}, actual {}"
    first = made("compiled", 0)
    later = [
        made("recompiled", n, entries_before=n, reasons=(f"0/0: {reason.format(n, n + 1)}",))
        for n in range(1, 9)
    ]
    return [first, *later]


LIMIT = {"limit": "recompile_limit", "limit_value": 8, "entries_before": 1}
RECORDINGS = {
    "limit": recording(made("compiled", 0), made("refused", 1, **LIMIT), calls=9, runs=3, silent=5),
    "off": recording(made("compiled", 0), made("switched_off", 1, why="a break"), calls=9, runs=1),
    "recurring": recording(*recurring(), calls=9, runs=9),
    "healthy": recording(made("compiled", 0), calls=9, runs=9),
}


def statuses(path: Path, lines: list[bytes]) -> dict[str, str]:
    path.write_bytes(b"".join(lines))
    arm = replace(read_arm(path), name="recorded")
    ledger = judge({arm.name: arm}, Contract(own_backend="eager"), tool_version="test")
    return {level.level: level.status for level in ledger.levels}


def hurt(lines: list[bytes]) -> Iterator[list[bytes]]:
    """Each line taken away, torn in the middle, and with a zero byte in it."""
    for number, line in enumerate(lines):
        for instead in (b"", line[: len(line) // 2] + b"\n", line[:-3] + b"\0" + line[-3:]):
            yield [*lines[:number], instead, *lines[number + 1 :]]


@pytest.mark.parametrize("name", RECORDINGS)
def test_no_lost_line_makes_a_level_hold(name: str, tmp_path: Path) -> None:
    path = tmp_path / "pid1.ledger.jsonl"
    lines = [encode(fact, number) for number, fact in enumerate(RECORDINGS[name])]
    whole = statuses(path, lines)
    assert ("fails" in whole.values()) == (name != "healthy")
    for without in hurt(lines):
        found = statuses(path, without)
        risen = [x for x in whole if found[x] == "holds" and whole[x] != "holds"]
        assert not risen, b"".join(without).decode(errors="replace")


def test_a_lost_line_is_said_where_a_level_would_hold(tmp_path: Path) -> None:
    lines = [encode(fact, number) for number, fact in enumerate(RECORDINGS["healthy"])]
    assert statuses(tmp_path / "a", lines)["STABLE"] == "holds"
    path = tmp_path / "b"
    path.write_bytes(b"".join(lines[:2] + lines[3:]))
    arm = replace(read_arm(path), name="recorded")
    ledger = judge({arm.name: arm}, Contract(own_backend="eager"), tool_version="test")
    stable = next(level for level in ledger.levels if level.level == "STABLE")
    assert stable.status == "not_measured"
    assert stable.why.startswith("1 line of the recording was lost; what is left shows no failure")
