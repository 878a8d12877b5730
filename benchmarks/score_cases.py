"""Audit a folder of cases whose right diagnosis is known, and print the score.

    python benchmarks/score_cases.py DIR [--quick | --default] [--only NAME] [--jobs N]

A case is a folder with ``case.py`` (``build()`` or ``main()``) and ``expect.json``.
``first_failing_level`` and ``measured.recompiles`` make the score; below each case stand
the other fields of ``expect.json`` that the ledger does not have as stated
(``score_fields.py``; a field in words is to be compared by eye). The exit status is 1
when an audit failed by its own fault, or a ledger disagrees with itself.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from score_fields import Field, compare_fields, recompiles

NOT_QUICK = ("CORRECT", "WORTH_IT")
"""Levels that ``--quick`` leaves unmeasured."""
TOP_LEVEL_BUILD = re.compile(r"^def build\(", re.MULTILINE)
VERDICTS = (0, 1, 2)
TIMEOUT = 900


@dataclass(frozen=True)
class Case:
    """One case, and what is expected of it."""

    folder: Path
    entry: str
    level: str | None
    recompiles: int | None
    expected: dict[str, Any] = field(default_factory=dict)
    """The whole of ``expect.json``."""


@dataclass(frozen=True)
class Score:
    """What the audit of one case gave."""

    case: Case
    level: str | None = None
    recompiles: int | None = None
    unmeasured: bool = False
    """The expected level was not asked at this depth, and the ledger says so."""
    error: str = ""
    """An internal error: the audit's own fault."""
    refused: str = ""
    """Why the audit gave no ledger (exit status 2)."""
    seconds: float = 0.0
    fields: tuple[Field, ...] = ()
    contradictions: tuple[str, ...] = ()
    """Places of the ledger that disagree with each other."""

    @property
    def level_right(self) -> bool:
        """True when the first failing level is the expected one."""
        return not (self.error or self.refused) and self.level == self.case.level

    @property
    def recompiles_right(self) -> bool:
        """True when as many recompiles were counted as expected."""
        return not (self.error or self.refused) and self.recompiles == self.case.recompiles

    @property
    def why(self) -> str:
        """What is not as expected; empty when all is."""
        if self.error or self.refused:
            return self.error or self.refused
        said = []
        if not self.level_right:
            tail = " (not measured at this depth)" if self.unmeasured else ""
            said.append(f"level {self.level}, expected {self.case.level}{tail}")
        if not self.recompiles_right:
            said.append(f"{self.recompiles} recompiles, expected {self.case.recompiles}")
        return "; ".join(said)


def find_cases(folder: Path, only: list[str]) -> list[Case]:
    """Every case below ``folder`` whose name contains one of ``only``, or every one."""
    cases = []
    for path in sorted(folder.glob("*/case.py")):
        if only and not any(name in path.parent.name for name in only):
            continue
        expected = json.loads((path.parent / "expect.json").read_text())
        cases.append(
            Case(
                folder=path.parent,
                entry="build" if TOP_LEVEL_BUILD.search(path.read_text()) else "main",
                level=expected["first_failing_level"],
                recompiles=expected.get("measured", {}).get("recompiles"),
                expected=expected,
            )
        )
    return cases


def run_case(case: Case, depth: list[str]) -> Score:
    """Audit one case in its own folder."""
    target = f"case.py:{case.entry}"
    start = time.monotonic()
    try:
        done = subprocess.run(
            [sys.executable, "-m", "compile_ledger", "audit", *depth, "--json", target],
            cwd=case.folder,
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            text=True,
            check=False,
            timeout=TIMEOUT,
        )
    except subprocess.TimeoutExpired:
        return Score(case, error=f"no answer in {TIMEOUT} s", seconds=TIMEOUT)
    return read_score(case, done, time.monotonic() - start)


def read_score(case: Case, done: subprocess.CompletedProcess[str], seconds: float) -> Score:
    """Read what the audit printed, or why it printed nothing of use."""
    lines = done.stderr.strip().splitlines() or [""]
    if done.returncode not in VERDICTS or "Traceback (most recent call last)" in done.stderr:
        return Score(case, error=f"exit {done.returncode}: {lines[-1][:200]}", seconds=seconds)
    if done.returncode == VERDICTS[-1] and not done.stdout:
        return Score(case, refused=f"exit 2: {lines[-1][:200]}", seconds=seconds)
    try:
        ledger = json.loads(done.stdout)
    except ValueError as broken:
        return Score(case, error=f"stdout is not JSON: {broken}", seconds=seconds)
    diagnosis = ledger["diagnosis"]
    return Score(
        case,
        level=diagnosis and diagnosis["level"],
        recompiles=recompiles(ledger),
        unmeasured=case.level in NOT_QUICK and status(ledger, case.level) == "not_measured",
        seconds=seconds,
        fields=tuple(compare_fields(case.expected, ledger)) if case.expected else (),
        contradictions=tuple(ledger.get("contradictions", ())),
    )


def status(ledger: dict[str, Any], level: str) -> str:
    """The status of one level."""
    return next(str(row["status"]) for row in ledger["levels"] if row["level"] == level)


def print_row(score: Score) -> None:
    """One line for one case."""
    mark = "ok" if not score.why else "ERROR" if score.error else "no"
    print(f"{mark:5} {score.case.folder.name:36} {score.seconds:6.1f} s  {score.why}", flush=True)
    for said in score.contradictions:
        print(f"      disagrees with itself: {said}", flush=True)
    for one in score.fields:
        if one.state != "equal":
            print(f"      {one.state:8} {one.name}: {one.expected!r} | {one.found!r}", flush=True)


def print_total(scores: list[Score]) -> None:
    """Print the score."""
    total = len(scores)
    print(
        f"\nfirst failing level right: {sum(s.level_right for s in scores)}/{total}"
        f" ({sum(s.unmeasured for s in scores)} not measured at this depth)"
        f"\nrecompiles right:          {sum(s.recompiles_right for s in scores)}/{total}"
        f"\nother fields:              {fields(scores)}"
        f"\nrefused (exit 2):          {sum(bool(s.refused) for s in scores)}"
        f"\ninternal errors:           {sum(bool(s.error) for s in scores)}"
        f"\nseconds, all audits:       {sum(s.seconds for s in scores):.0f}"
    )


def fields(scores: list[Score]) -> str:
    """``501 equal, 20 differs, ...``: over all cases."""
    states = Counter(one.state for score in scores for one in score.fields)
    return ", ".join(f"{number} {state}" for state, number in states.most_common())


def main() -> int:
    """Score every case."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    depth = parser.add_mutually_exclusive_group()
    depth.add_argument("--quick", action="store_true", help="the cheap arms only; assumed")
    depth.add_argument("--default", action="store_true", help="as deep as the audit goes unasked")
    parser.add_argument("--only", action="append", default=[], metavar="NAME")
    parser.add_argument("--jobs", type=int, default=1, metavar="N")
    options = parser.parse_args()

    cases = find_cases(options.folder, options.only)
    if not cases:
        parser.error(f"no case below {options.folder}")
    flags = [] if options.default else ["--quick"]
    scores = []
    with ThreadPoolExecutor(options.jobs) as pool:
        for score in pool.map(lambda case: run_case(case, flags), cases):
            print_row(score)
            scores.append(score)
    print_total(scores)
    return 1 if any(score.error or score.contradictions for score in scores) else 0


if __name__ == "__main__":
    sys.exit(main())
