"""How reading and judging a recording grow with calls, regions and readings.

    python benchmarks/read_growth.py

Writes recordings by hand, each twice as large as the one before, and prints CPU seconds,
the ratio to the one before (2 is linear), and the peak memory of a fresh process that
reads and judges it.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from compile_ledger.facts.arm import Goodbye, Header
from compile_ledger.facts.calls import Counters, EntryRuns, RegionCalls
from compile_ledger.facts.codec import FORMAT, SUFFIX, VERSION, encode
from compile_ledger.facts.compile import Compile
from compile_ledger.facts.place import Place
from compile_ledger.facts.region import CodeObject, Region

Facts = Iterator[Any]


def regions(number: int, calls: int = 100) -> Facts:
    """``number`` regions, each of a function of its own, each compiled once."""
    for n in range(number):
        place = Place("serve.py", n + 1, f"f{n}")
        yield Region(n, f"f{n}", site=place, target_place=place, root=n)
        yield CodeObject(n, f"f{n}", "serve.py", n + 1)
        yield Compile(n, "compiled", f"{n}/0", n, 0, graph_ops=3, guards=9, started_ns=n)
    counted = tuple(RegionCalls(n, calls) for n in range(number))
    yield Counters(1, counted, tuple(EntryRuns(n, f"{n}/0", calls) for n in range(number)), 0, 0)


def calls(number: int) -> Facts:
    """One region that was called ``number`` times."""
    return regions(1, number)


def readings(number: int) -> Facts:
    """Sixty regions, of which two ran between one reading and the next."""
    yield from regions(60)
    for n in range(number):
        ran = (n % 60, (n + 1) % 60)
        yield Counters(
            n + 2,
            tuple(RegionCalls(r, 100 + n) for r in ran),
            tuple(EntryRuns(r, f"{r}/0", 100 + n) for r in ran),
            0,
            0,
        )


GROWING: dict[str, tuple[Callable[[int], Facts], tuple[int, ...]]] = {
    "regions": (regions, (1_250, 2_500, 5_000, 10_000)),
    "calls": (calls, (10**4, 10**6, 10**8, 10**10)),
    "readings": (readings, (10_000, 20_000, 40_000, 86_400)),
}


def write(path: Path, facts: Facts) -> None:
    """One recording that ended in order."""
    header = Header(FORMAT, VERSION, "benchmark", 1, arm="recorded")
    path.write_bytes(b"".join(encode(fact) for fact in (header, *facts, Goodbye("finished"))))


def judge(path: Path) -> None:
    """Read and judge one recording; print CPU seconds and peak mebibytes."""
    from compile_ledger.facts.contract import Contract
    from compile_ledger.judge.ledger import judge as judged
    from compile_ledger.read.recording import read_arm

    began = time.process_time()
    arm = read_arm(path)
    judged({arm.name: arm}, Contract(own_backend="eager"), tool_version="benchmark")
    print(time.process_time() - began, _peak_kib() // 1024)


def _peak_kib() -> int:
    """The peak of this process alone (``ru_maxrss`` begins with the parent's)."""
    status = Path("/proc/self/status").read_text()
    return next(int(x.split()[1]) for x in status.splitlines() if x.startswith("VmHWM"))


def main() -> None:
    """Print one line for each size."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"pid1{SUFFIX}"
        for name, (make, sizes) in GROWING.items():
            before = None
            for size in sizes:
                write(path, make(size))
                command = [sys.executable, __file__, str(path)]
                said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
                seconds, peak = float(said.split()[0]), int(said.split()[1])
                ratio = "" if before is None else f", x{seconds / before:.2f}"
                kib = path.stat().st_size // 1024
                print(f"{size:>14,} {name}: {kib:,} KiB, {seconds:.2f} s{ratio}, {peak} MiB")
                before = seconds


if __name__ == "__main__":
    judge(Path(sys.argv[1])) if sys.argv[1:] else main()
