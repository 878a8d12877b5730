"""Look at a recording while it grows: regions, calls per second, what became of the calls.

PATH is the folder that record writes to, or one file. The folder may still be empty or
missing; processes come and go. Ends on q or Ctrl-C; --once prints what is there and ends,
with exit code 2 where there is no such path.
"""

from __future__ import annotations

import argparse
import select
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.live import Live as Screen
from rich.table import Table
from rich.text import Text

from compile_ledger.facts.calls import DISPOSITIONS
from compile_ledger.judge.stable.limit_ahead import LAST, used_up
from compile_ledger.read.live import Folder, Live
from compile_ledger.read.progress import Row, last_event, rows
from compile_ledger.render.words import clean, counted

_PERIOD = 0.5
_MOST_ROWS = 12


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``watch``."""
    parser.add_argument("path", metavar="PATH", type=Path, help="a folder of recordings, or one")
    parser.add_argument("--once", action="store_true", help="print one frame and end")


def run(options: argparse.Namespace) -> int:
    """Show frames until q or Ctrl-C. Raises ``ValueError`` for one frame of no such path."""
    folder = Folder(options.path)
    console = Console(highlight=False)
    there = options.path.exists()
    if options.once and not there:
        msg = f"{options.path} does not exist: give the folder that record writes to"
        raise ValueError(msg)
    if not there and not console.is_terminal:
        sys.stderr.write(f"compile-ledger: waiting for {options.path}, which does not exist yet\n")
    if options.once:
        console.print(frame(folder))
        return 0
    try:
        with _keys() as pressed, Screen(console=console, screen=False) as screen:
            while True:
                screen.update(frame(folder, console.height), refresh=True)
                if pressed(_PERIOD):
                    break
    except KeyboardInterrupt:
        return 0
    return 0


@contextmanager
def _keys() -> Iterator[Any]:
    """A function that waits some seconds and says whether q was pressed."""
    if not sys.stdin.isatty():
        yield _wait
        return
    termios, tty = import_module("termios"), import_module("tty")
    before = termios.tcgetattr(sys.stdin)
    tty.setcbreak(sys.stdin)
    try:
        yield _pressed
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)


def _wait(seconds: float) -> bool:
    time.sleep(seconds)
    return False


def _pressed(seconds: float) -> bool:
    ready, _, _ = select.select([sys.stdin], [], [], seconds)
    return bool(ready) and sys.stdin.read(1).lower() == "q"


def frame(folder: Folder, height: int | None = None) -> RenderableType:
    """Everything known now, or as many processes as ``height`` lines have room for."""
    processes = folder.follow()
    if not processes:
        where = clean(str(folder.path))
        return Text(f"{where}: no recording yet; a process writes one when it compiles")
    shown = processes if height is None else _that_fit(processes, height)
    more = len(processes) - len(shown)
    rest = [Text(f"and {more} more processes: make the window taller")] if more else []
    return Group(*(part for live in shown for part in _process(live)), *rest)


def _that_fit(processes: tuple[Live, ...], height: int) -> list[Live]:
    """The first processes whose blocks fit, one at least."""
    shown: list[Live] = []
    left = height - 2
    for live in processes:
        left -= min(len(live.regions), _MOST_ROWS + 1) + 4
        if shown and left < 0:
            break
        shown.append(live)
    return shown


def _process(live: Live) -> Iterator[RenderableType]:
    header = live.header
    rank = f"rank {header.rank}, " if header and header.rank is not None else ""
    who = f"{rank}pid {header.pid}" if header else clean(live.path.name)
    silent = live.counters.silent if live.counters else None
    eager = f", {silent} ran eagerly, unannounced" if silent else ""
    lost = f", {counted(live.unread, 'line')} not read" if live.unread else ""
    yield Text(f"{who}: {live.state}{eager}{lost}", style="bold")
    if header is None:
        return
    table = Table(box=None, pad_edge=False)
    for title in ("region", "calls", "per s", "entries", "became of the calls"):
        table.add_column(title, justify="right" if title in ("calls", "per s") else "left")
    found = rows(live)
    for row in found[:_MOST_ROWS]:
        table.add_row(*_cells(row))
    yield table
    yield from (Text(clean(_warning(row)), style="yellow") for row in found if _is_full(row))
    if len(found) > _MOST_ROWS:
        yield Text(f"and {len(found) - _MOST_ROWS} more regions")
    said = last_event(live)
    if said:
        yield Text(f"last: {clean(said)}", overflow="ellipsis", no_wrap=True)
    yield Text("")


def _is_full(row: Row) -> bool:
    """Whether a region has one compile left before its limit, or none, and none was refused."""
    return not row.refused and row.entries > 1 and row.limit - row.entries <= LAST


def _warning(row: Row) -> str:
    used = min(row.entries, row.limit)
    return f"warning: {row.target}: {used_up(row.last, used, row.limit, raises=row.fullgraph)}"


def _cells(row: Row) -> Iterator[Text]:
    site = f" {Path(row.site.file).name}:{row.site.line}" if row.site else ""
    yield Text(clean(f"{row.target}{site}"))
    yield Text(f"{row.calls:,}")
    yield Text("" if row.rate is None else f"{row.rate:,.0f}")
    full = row.refused or row.entries >= row.limit
    yield Text(f"{row.entries} of {row.limit}", style="bold red" if full else "")
    seen = [f"{row.outcomes[name]} {name}" for name in DISPOSITIONS if name in row.outcomes]
    yield Text(", ".join(seen).replace("_", " "))
