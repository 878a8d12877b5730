"""Show a ledger.json again, in any form; or its calls one by one.

Reads what an earlier command kept with -o or --json. With --calls: from the folder that
audit -o kept, what varied from call to call, what became of each, eager and compiled CPU
time, the entry that took it or each guard that refused it. Needs no torch.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import pydoc
import sys
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from compile_ledger.facts.codec import SUFFIX
from compile_ledger.judge.call_table import CallTable, call_tables
from compile_ledger.read.recording import read_arm
from compile_ledger.render.call_table import call_table
from compile_ledger.render.dispositions import LOOKS
from compile_ledger.render.json import from_json
from compile_ledger.render.terminal.page import WIDTH, Page

from . import output


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``report``."""
    parser.add_argument("ledger", metavar="LEDGER", type=Path, help="ledger.json, or its folder")
    parser.add_argument("--calls", action="store_true", help="show the calls one by one")
    parser.add_argument(
        "--guards", action="store_true", help="with --calls: guards as the runtime words them"
    )
    output.arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Show the ledger.

    Raises ``LedgerFileError`` for a file that holds none, ``OutputError``, ``OSError``.
    """
    path: Path = options.ledger
    if options.calls or options.guards:
        return _calls(path, options)
    output.check([options.html])
    ledger = from_json(_file(path).read_bytes())
    output.show(ledger, options)
    return output.exit_code(ledger, options)


def _calls(path: Path, options: argparse.Namespace) -> int:
    """Print the calls. Raises ``OutputError`` where none were kept apart."""
    folder = path if path.is_dir() else path.parent
    found = (read_arm(file) for file in sorted(folder.glob(f"arms/*/*{SUFFIX}")))
    tables = call_tables({arm.name: arm for arm in found})
    if not tables:
        msg = (
            f"{path} keeps no call apart: give the folder that audit -o kept; a recording "
            f"counts calls and keeps no arguments"
        )
        raise output.OutputError(msg)
    if options.json:
        sys.stdout.write(json.dumps([dataclasses.asdict(table) for table in tables]) + "\n")
        return 0
    _print(_lines(tables, guards=options.guards))
    return 0


def _lines(tables: Sequence[CallTable], *, guards: bool) -> Iterator[str]:
    for table in tables:
        yield from call_table(table, guards=guards)
        yield ""
    seen = {call.disposition for table in tables for call in table.calls}
    looks = [look for name, look in LOOKS.items() if name in seen]
    legend = "; ".join(f"{look.letter} {look.word} ({look.meaning})" for look in looks)
    yield from textwrap.wrap(legend, WIDTH)


def _print(lines: Iterable[str]) -> None:
    """Print, through a pager where the lines are more than a terminal shows."""
    from rich.console import Console

    console = Console(highlight=False)
    page = Page(console)
    text = "".join(f"{page.plain(line)}\n" for line in lines)
    if console.is_terminal and text.count("\n") > console.height:
        pydoc.pager(text)
    else:
        sys.stdout.write(text)


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
