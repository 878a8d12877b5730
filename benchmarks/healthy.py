"""Audit healthy programs in default depth: none may be told that something is wrong with it.

    python benchmarks/healthy.py [--only NAME ...] [--seconds 180]

Runs each program of ``benchmarks/healthy``, prints one line each, and exits with 1 on any
false alarm or any audit that took longer than ``--seconds``. A level that fails is a false
alarm, as is one that could not be measured; WORTH IT may be "not resolved", and may fail
where compiled calls are slower, which is true of small models: that is printed. Programs
that need a package which is not installed here are skipped, and said to be.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PROGRAMS = Path(__file__).parent / "healthy"
LIMIT = 180.0
"""Seconds that one audit may take on two idle cores."""


@dataclass(frozen=True)
class Row:
    """What the audit of one program gave."""

    name: str
    seconds: float
    verdict: str
    alarm: str = ""
    """What it says is wrong; empty when it is right."""


def audit(program: Path) -> Row:
    """Audit one program in a process of its own."""
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "compile_ledger", "audit", "--json", program.name],
        cwd=program.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    seconds = time.monotonic() - began
    if not done.stdout.strip():
        last = (done.stderr.strip().splitlines() or ["nothing was printed"])[-1]
        return Row(program.stem, seconds, f"exit {done.returncode}", last)
    ledger = json.loads(done.stdout)
    return Row(program.stem, seconds, ledger["verdict"], alarm(ledger))


def alarm(ledger: dict[str, Any]) -> str:
    """The first level that does not hold though it should."""
    for level in ledger["levels"]:
        if level["status"] == "holds" or allowed(level):
            continue
        return f"{level['level']} {level['status']}: {level['why']}"
    return ""


def allowed(level: dict[str, Any]) -> bool:
    """Whether WORTH IT says what is true of small models: slower, or inside the noise."""
    status, why = str(level["status"]), str(level["why"])
    slower = status == "fails" and why.startswith("compiled is slower")
    return level["level"] == "WORTH_IT" and (slower or status == "not_resolved")


def missing(program: Path) -> str:
    """The package that the program needs and that is not here."""
    names = [w for w in ("transformers", "diffusers", "timm", "torchvision") if uses(program, w)]
    for name in names:
        found = subprocess.run(
            [sys.executable, "-c", f"import {name}"], capture_output=True, check=False
        )
        if found.returncode:
            return name
    return ""


def uses(program: Path, package: str) -> bool:
    """Whether the program imports a package."""
    text = program.read_text(encoding="utf-8")
    return f"import {package}" in text or f"from {package} " in text


def show(row: Row, limit: float) -> bool:
    """Print one line; True when it is as it should be."""
    late = row.seconds > limit
    mark = "FALSE ALARM" if row.alarm else "TOO LONG" if late else "ok"
    print(f"{row.name:24} {row.seconds:6.0f} s  {mark:11}  {row.alarm or row.verdict}", flush=True)
    return not (row.alarm or late)


def main() -> int:
    """Audit every program; 1 when any was not as it should be."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*", default=[], metavar="NAME")
    parser.add_argument("--seconds", type=float, default=LIMIT)
    options = parser.parse_args()

    wrong, audited = 0, 0
    for program in sorted(PROGRAMS.glob("[!_]*.py")):
        if options.only and program.stem not in options.only:
            continue
        if package := missing(program):
            print(f"{program.stem:24} skipped: {package} cannot be imported here")
            continue
        audited += 1
        wrong += not show(audit(program), options.seconds)
    print(f"{audited} programs audited, {wrong} not as they should be")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
