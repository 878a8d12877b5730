"""The options of every command that shows a ledger, and what they write."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from pathlib import Path
from typing import Any

from compile_ledger.experiment.arm_process import LEFT
from compile_ledger.judge.choose import RECORDED
from compile_ledger.judge.document import Ledger
from compile_ledger.render import form

LEDGER_FILE = "ledger.json"
LEVELS = ("runs", "correct", "captured", "stable", "worth_it")


class OutputError(ValueError):
    """A file or folder cannot be written: one line, with the remedy."""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the output options."""
    group = parser.add_argument_group("output")
    group.add_argument("--json", action="store_true", help="print the ledger as JSON")
    group.add_argument("--md", action="store_true", help="print the ledger as Markdown")
    group.add_argument("--html", metavar="FILE", type=Path, help="write one offline HTML file")
    group.add_argument(
        "--require",
        metavar="LEVEL",
        type=_level,
        choices=LEVELS,
        help=f"exit 1 also when a level up to this one is not measured: {', '.join(LEVELS)}",
    )


def _level(text: str) -> str:
    """A level's name, however it is written."""
    return text.strip().lower().replace(" ", "_").replace("-", "_")


def check(paths: list[Path | None]) -> None:
    """Raise :class:`OutputError` now for files that could not be written later."""
    for path in paths:
        why = "" if path is None else _unwritable(path)
        if why:
            msg = f"cannot write {path}: {why}"
            raise OutputError(msg)


def _unwritable(path: Path) -> str:
    if path.is_dir():
        return "it is a directory: give a file"
    folder = path.parent
    if not folder.is_dir():
        return f"{folder} is not a folder that you may write to: it does not exist"
    if not os.access(path if path.exists() else folder, os.W_OK):
        return f"{folder} is not a folder that you may write to"
    return ""


def folder(path: Path) -> Path:
    """Make an output folder. Raises :class:`OutputError`."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        msg = f"cannot write to {path}: {error.strerror}; give another folder with -o"
        raise OutputError(msg) from error
    if not os.access(path, os.W_OK):
        msg = f"cannot write to {path}: give another folder with -o"
        raise OutputError(msg)
    return path


def show(ledger: Ledger, options: argparse.Namespace) -> None:
    """Write the files asked for, then print the ledger in the form asked for.

    A reader that goes away (``| head``) or a full disk behind stdout ends the printing
    and nothing else: files and exit code are as they would be. Raises ``OSError`` when
    a file cannot be written.
    """
    left = note(ledger)
    if left:
        sys.stderr.write(f"compile-ledger: {left}\n")
    try:
        if options.html is not None:
            options.html.write_text(form("html")(ledger), encoding="utf-8")
    finally:
        if sys.stdout is not None:
            _print_as_far_as_it_goes(ledger, options)


def _print_as_far_as_it_goes(ledger: Ledger, options: argparse.Namespace) -> None:
    try:
        _print(ledger, options)
        sys.stdout.flush()
    except OSError as error:
        if not isinstance(error, BrokenPipeError):
            why = error.strerror or str(error)
            sys.stderr.write(f"compile-ledger: the report could not be printed: {why}\n")
        close_stdout()


def close_stdout() -> None:
    """Send what is still to be printed nowhere: the end of Python would fail on it."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _print(ledger: Ledger, options: argparse.Namespace) -> None:
    if options.json:
        sys.stdout.buffer.write(form("json")(ledger))
    elif options.md:
        sys.stdout.write(form("markdown")(ledger))
    else:
        form("terminal")(ledger, console())


def console(width: int | None = None) -> Any:
    """A console on stdout, which raises ``BrokenPipeError`` where nobody reads any more."""
    from rich.console import Console

    class Honest(Console):
        def on_broken_pipe(self) -> None:
            """Tell: rich would leave with an exit code of its own."""
            raise BrokenPipeError

    return Honest(highlight=False, width=width)


UNFINISHED = ("timed_out", "killed", "failed", "interrupted")


def unfinished(ledger: Ledger) -> str:
    """One line, with the remedy, for the first arm that did not get to its end."""
    for arm in ledger.arms:
        if arm.status in UNFINISHED and arm.name != RECORDED:
            remedy = {
                "timed_out": "raise --timeout, or end each arm after N calls with --max-calls N",
                "killed": "see its stderr.txt (-o keeps it); memory may have run out",
            }.get(arm.status, "see its stderr.txt (-o keeps it)")
            return f"the {arm.name} arm did not finish ({arm.why}): {remedy}"
    return "interrupted: what had been measured is shown" if ledger.interrupted else ""


def note(ledger: Ledger) -> str:
    """The line for stderr: what was cut short, with the remedy; empty where nothing was."""
    return unfinished(ledger) or _left_early(ledger)


def _left_early(ledger: Ledger) -> str:
    """One line, with the remedy, for a program whose end could not be seen."""
    why = next((arm.why for arm in ledger.arms if arm.why == LEFT), "")
    lost = "what is measured at the end (steady state, cache lines) is not measured"
    return why and f"{why}, so {lost}: let it end as usual, or with sys.exit"


def exit_code(ledger: Ledger, options: argparse.Namespace) -> int:
    """0: no level failed; 1: one did, or one that is required is not proved.

    2 when the command could not do its work: the workload cannot be compiled here
    (no C++ compiler), or an arm did not finish and nothing failed before it.
    """
    if ledger.diagnosis is not None:
        return 2 if ledger.diagnosis.slug == "toolchain-missing" else 1
    if unfinished(ledger):
        return 2
    required = (options.require or "").upper()
    names = [level.level for level in ledger.levels]
    if required in names:
        upto = ledger.levels[: names.index(required) + 1]
        return int(any(level.status != "holds" for level in upto))
    return 0
