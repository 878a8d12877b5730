"""Record what one run of a program shows of its compiled regions.

TARGET is script.py, or -m MODULE; arguments after -- go to the program. The program
runs as without us: the same process, output, exit code and tracebacks. Each process
that compiles something, children and ranks included, writes one file in the folder:

    compile-ledger record -o runs train.py -- --epochs 3
    torchrun --nproc-per-node 2 -m compile_ledger record -o runs train.py
    compile-ledger read runs
    compile-ledger watch runs
"""

from __future__ import annotations

import argparse
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import compile_ledger.startup
from compile_ledger.experiment.targets import parse_target
from compile_ledger.startup.boot import VARIABLE

DEFAULT_FOLDER = "compile-ledger"
DEFAULT_EVENTS = 100_000


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``record``."""
    parser.add_argument("target", nargs="?", metavar="TARGET", help="script.py")
    parser.add_argument(
        "-m", dest="module", metavar="MODULE", help="run a module, as python -m does"
    )
    parser.add_argument(
        "-o",
        dest="output",
        metavar="DIR",
        default=DEFAULT_FOLDER,
        help=f"where the recordings go ({DEFAULT_FOLDER})",
    )
    parser.add_argument("--timeline", action="store_true", help="keep the order of the calls")
    parser.add_argument(
        "--events",
        type=int,
        default=DEFAULT_EVENTS,
        metavar="N",
        help=f"events the timeline holds between two readings ({DEFAULT_EVENTS})",
    )
    parser.add_argument(
        "--interval", type=float, default=1.0, metavar="S", help="seconds between counters (1)"
    )
    parser.epilog = "Arguments after -- go to the program: record train.py -- --epochs 3"


def run(options: argparse.Namespace) -> int:
    """Become the program, with the recorder on. Raises ``ValueError`` for a wrong target."""
    command = [sys.executable, *_flags(), *_program(options)]
    _check()
    environment = os.environ | {
        VARIABLE: os.path.abspath(options.output),  # noqa: PTH100
        "COMPILE_LEDGER_INTERVAL": str(options.interval),
        "COMPILE_LEDGER_TIMELINE": str(options.events if options.timeline else 0),
        "PYTHONPATH": os.pathsep.join(_path()),
    }
    if sys.stderr.isatty():
        sys.stderr.write(f"compile-ledger: recording; see compile-ledger read {options.output}\n")
    sys.stderr.flush()
    os.execve(sys.executable, command, environment)  # noqa: S606  no shell is meant


def _flags() -> list[str]:
    """The interpreter's own options, such as ``-W`` and ``-X``."""
    find: Any = getattr(subprocess, "_args_from_interpreter_flags", list)
    flags: list[str] = find()
    return flags


def _path() -> list[str]:
    """``PYTHONPATH`` with the folder of our ``sitecustomize`` before it."""
    given = os.environ.get("PYTHONPATH")
    return [str(Path(compile_ledger.startup.__file__).parent), *([given] if given else [])]


def _check() -> None:
    if sys.flags.ignore_environment or sys.flags.no_site:
        msg = "Python runs with -E, -I or -S, so no recorder can start: leave that option out"
        raise ValueError(msg)


def _program(options: argparse.Namespace) -> list[str]:
    argv = tuple(options.program_arguments)
    if not 0 < options.interval < math.inf or options.events <= 0:
        msg = "--interval wants seconds, --events a number, both above 0"
        raise ValueError(msg)
    if options.module:
        if options.target is not None:
            msg = "give a TARGET or -m MODULE, not both; arguments of the module go after --"
            raise ValueError(msg)
        return ["-m", options.module, *argv]
    if options.target is None:
        msg = "give a TARGET: script.py, or -m MODULE"
        raise ValueError(msg)
    if (Path(options.target) / "__main__.py").is_file():  # As Python runs a folder.
        return [options.target, *argv]
    target = parse_target(options.target, argv)
    if target.kind != "script":
        msg = f"{options.target} names a function: record runs programs, audit runs functions"
        raise ValueError(msg)
    return [options.target, *argv]
