"""Show what the recorder can see on this torch, instrument by instrument.

Starts a fresh Python that installs every hook and takes it out again. --probe also
asks this torch how it behaves past a limit and on new values, by running small functions.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from typing import Any

from . import output

_WIDE = 160
"""Columns where the table goes to a file or a pipe: no line is broken."""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``env``."""
    parser.add_argument("--probe", action="store_true", help="run small functions, too")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(options: argparse.Namespace) -> int:
    """Print the table. Raises ``ValueError`` where no torch can be asked."""
    found = _ask(["--probe"] if options.probe else [])
    if options.json:
        sys.stdout.write(json.dumps(found, indent=2) + "\n")
    else:
        _show(found)
    return 0


def _ask(arguments_: list[str]) -> Any:
    done = subprocess.run(
        [sys.executable, "-m", "compile_ledger.observe.table", *arguments_],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        msg = f"this Python cannot be asked: {last}; pip install 'compile-ledger[torch]'"
        raise ValueError(msg)
    return json.loads(done.stdout)


def _show(found: Any) -> None:
    from rich.table import Table
    from rich.text import Text

    console = output.console(None if sys.stdout.isatty() else _WIDE)
    environment = found["environment"]
    console.print(f"torch {environment['torch']}, Python {environment['python']}", markup=False)
    table = Table(box=None, pad_edge=False)
    for title in ("instrument", "here", "shows"):
        table.add_column(title, overflow="fold")
    for row in found["capabilities"]:
        here = "yes" if row["present"] else f"no: {row['why']}"
        table.add_row(*(Text(cell) for cell in (row["name"], here, row["shows"])))
    console.print(table)
    if "behaviour" in found:
        answers = Table("this torch", "does", box=None, pad_edge=False)
        for question, answer in found["behaviour"].items():
            answers.add_row(Text(question), Text(answer))
        console.print()
        console.print(answers)
