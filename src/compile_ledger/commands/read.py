"""Judge a recording: what one run shows, and by name what it cannot show.

PATH is the folder that record wrote to, or one file of it. Every process is judged;
the one with a diagnosis, else the busiest, is shown, the others are listed, and so are
files that cannot be read.

Exit code: 0 no level failed, 1 a level failed in some process, 2 nothing could be read.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from pathlib import Path
from typing import TextIO

import compile_ledger
from compile_ledger.experiment.audit import own_backend
from compile_ledger.facts.contract import Contract
from compile_ledger.judge.document import Ledger
from compile_ledger.judge.ledger import judge
from compile_ledger.judge.sites import with_sources
from compile_ledger.read.folder import ARM, Recorded, read_all
from compile_ledger.read.sources import sources
from compile_ledger.render import form

from . import output

_MOST_LISTED = 16


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``read``."""
    parser.add_argument("path", metavar="PATH", type=Path, help="a folder of recordings, or one")
    parser.add_argument(
        "-o", dest="output", metavar="DIR", type=Path, help="keep each process's ledger in DIR"
    )
    output.arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Judge and show. Raises ``RecordingError``, ``OutputError``, ``OSError``."""
    output.check([options.html])
    found = read_all(options.path)
    judged = [(one, judge_recorded(one)) for one in found.recorded]
    judged.sort(key=lambda pair: pair[1].diagnosis is None)
    if options.output is not None:
        _keep(output.folder(options.output), judged)
    output.show(judged[0][1], options)
    stream = sys.stderr if options.json or options.md else sys.stdout
    if len(judged) > 1:
        _list(judged, stream)
    for why in found.unread[:_MOST_LISTED]:
        stream.write(f"not read: {why}\n")
    if len(found.unread) > _MOST_LISTED:
        stream.write(f"and {len(found.unread) - _MOST_LISTED} more files that were not read\n")
    return max(output.exit_code(ledger, options) for _, ledger in judged)


def judge_recorded(one: Recorded) -> Ledger:
    """The ledger of one process's recording."""
    argv = one.arm.header.environment.argv if one.arm.header else ()
    contract = Contract(
        target=" -- ".join(filter(None, [argv[0], " ".join(argv[1:])])) if argv else "TARGET",
        command=shlex.join([argv[0], *(["--"] if argv[1:] else []), *argv[1:]]) if argv else "",
        own_backend=own_backend(one.arm.regions),
        kind="recording",
    )
    judged = judge({ARM: one.arm}, contract, tool_version=compile_ledger.__version__)
    return with_sources(judged, sources([one.arm]))


def _keep(folder: Path, judged: list[tuple[Recorded, Ledger]]) -> None:
    write = form("json")
    (folder / output.LEDGER_FILE).write_bytes(write(judged[0][1]))
    for one, ledger in judged[1:]:
        (folder / f"{one.path.name.partition('.')[0]}.json").write_bytes(write(ledger))


def _list(judged: list[tuple[Recorded, Ledger]], stream: TextIO) -> None:
    """One line for each process that is not shown in full."""
    stream.write(f"\nshown: {judged[0][0].who}; the other recorded processes:\n")
    stream.writelines(
        f"  {one.who:<22} {one.calls:>9} calls  {ledger.verdict}\n"
        for one, ledger in judged[1 : _MOST_LISTED + 1]
    )
    more = len(judged) - 1 - _MOST_LISTED
    if more > 0:
        stream.write(f"  and {more} more\n")
