"""Show a ledger.json again, in any form.

Reads what an earlier command kept with -o or --json. Needs no torch.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from compile_ledger.facts.codec import SUFFIX
from compile_ledger.render.json import from_json

from . import output


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``report``."""
    parser.add_argument("ledger", metavar="LEDGER", type=Path, help="ledger.json, or its folder")
    output.arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Show the ledger.

    Raises ``LedgerFileError`` for a file that holds none, ``OutputError``, ``OSError``.
    """
    path: Path = options.ledger
    output.check([options.html])
    ledger = from_json(_file(path).read_bytes())
    output.show(ledger, options)
    return output.exit_code(ledger, options)


def _file(path: Path) -> Path:
    """The ledger's file. Raises ``OutputError`` where there is none."""
    file = path / output.LEDGER_FILE if path.is_dir() else path
    if file.exists():
        return file
    what = f"{path} has no {output.LEDGER_FILE}" if path.is_dir() else f"{path} does not exist"
    msg = f"{what}: give the folder that audit -o kept, or a ledger file"
    if any(path.glob(f"*{SUFFIX}")):
        msg = f"{what}; it holds recordings: compile-ledger read {path}"
    raise output.OutputError(msg)
