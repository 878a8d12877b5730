"""What the diagnosis costs against one cold run of the same program, in CPU seconds.

    python benchmarks/diagnosis_cost.py [TARGET]

The cheap arms give the diagnosis: eager, eager again, capture, and the experiments.
The budget is a quarter of the cold arm. Takes a few minutes on two cores.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

EXAMPLE = Path(__file__).parents[1] / "examples" / "varlen_service.py"
CHEAP = ("eager", "eager_again", "capture")
BUDGET = 0.25


def audit(target: str) -> dict[str, Any]:
    """The ledger of a full audit; exits where the audit did."""
    command = [sys.executable, "-m", "compile_ledger", "audit", "--full", "--json", target]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode not in (0, 1):
        sys.exit(done.returncode)
    ledger: dict[str, Any] = json.loads(done.stdout)
    return ledger


def is_cheap(arm: dict[str, Any]) -> bool:
    """True for the arms that the diagnosis rests on; an experiment's arm names its change."""
    return arm["name"] in CHEAP or bool(arm["change"])


def main() -> int:
    """Print the seconds of each arm and the ratio; 0 when it is within the budget."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("target", nargs="?", default=str(EXAMPLE))
    ledger = audit(parser.parse_args().target)

    arms = [arm for arm in ledger["arms"] if arm["cpu_seconds"] is not None]
    for arm in arms:
        side = "diagnosis" if is_cheap(arm) else ""
        print(f"{arm['name']:32} {arm['cpu_seconds']:8.2f} CPU s  {side}")
    cold = next((arm["cpu_seconds"] for arm in arms if arm["name"] == "cold"), None)
    if not cold:
        print("no cold arm was measured: no ratio", file=sys.stderr)
        return 2
    diagnosis = sum(arm["cpu_seconds"] for arm in arms if is_cheap(arm))
    ratio = diagnosis / cold
    print(f"\ndiagnosis / cold = {diagnosis:.2f} / {cold:.2f} = {ratio:.3f} (budget {BUDGET})")
    return 0 if ratio <= BUDGET else 1


if __name__ == "__main__":
    sys.exit(main())
