"""Find the first level of a workload that stopped holding.

TARGET is a program (script.py, or -m MODULE) that calls torch.compile itself, or
FILE.py:NAME, where NAME is a compile_ledger.Workload or a function that returns one.
Arguments after -- go to the program.

Fresh processes run the workload: eager, eager again, captured without code
generation, then, as far as the levels need it, compiled cold and warm. What the
program prints goes to files (kept with -o), the result to stdout. The program's
stdin is empty.

Exit code: 0 no level failed, 1 a level failed, 2 the audit could not do its work.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from compile_ledger.experiment.audit import Audit
from compile_ledger.experiment.launch import dropped
from compile_ledger.experiment.plan import Terms
from compile_ledger.experiment.targets import Target, parse_target
from compile_ledger.facts.contract import DEFAULT_ATOL, DEFAULT_RTOL, Contract, Depth
from compile_ledger.judge.document import Ledger
from compile_ledger.progress import Progress
from compile_ledger.render import form

from . import again, output
from .numbers import positive, seconds, tolerance


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``audit``."""
    parser.add_argument("target", nargs="?", metavar="TARGET", help="script.py or file.py:name")
    parser.add_argument(
        "-m", dest="module", metavar="MODULE", help="run a module, as python -m does"
    )
    parser.epilog = "Arguments after -- go to the program: audit script.py --quick -- --epochs 3"
    depth = parser.add_mutually_exclusive_group()
    depth.add_argument("--quick", action="store_true", help="stop after the cheap arms")
    depth.add_argument("--full", action="store_true", help="run every arm, whatever fails")
    parser.add_argument(
        "-o", dest="output", metavar="DIR", type=Path, help="keep everything in DIR"
    )
    bounds = parser.add_argument_group("bounds")
    bounds.add_argument(
        "--max-calls", type=positive, metavar="N", help="end each arm after N region calls"
    )
    bounds.add_argument(
        "--whole", action="store_true", help="run the program to its own end, however long"
    )
    bounds.add_argument(
        "--timeout",
        type=seconds,
        default=again.TIMEOUT,
        metavar="S",
        help="seconds an arm may take (900)",
    )
    bounds.add_argument(
        "--compare",
        type=positive,
        default=again.COMPARE,
        metavar="N",
        help="calls of a region compared (8)",
    )
    bounds.add_argument(
        "--threads",
        type=positive,
        default=again.THREADS,
        metavar="N",
        help="intra-op threads of each arm (1)",
    )
    contract = parser.add_argument_group("your contract")
    contract.add_argument("--rtol", type=tolerance, help="relative tolerance you state (1e-4)")
    contract.add_argument("--atol", type=tolerance, help="absolute tolerance you state (1e-4)")
    contract.add_argument(
        "--horizon", type=positive, metavar="N", help="calls served before a restart"
    )
    output.arguments(parser)


def _target(options: argparse.Namespace) -> Target:
    argv = tuple(options.program_arguments)
    if options.module and options.target is not None:
        msg = f"give a TARGET or -m MODULE, not both; arguments of {options.module} go after --"
        raise ValueError(msg)
    if options.module:
        return parse_target(options.module, argv, module=True)
    if options.target is None:
        msg = "give a TARGET: script.py, file.py:name, or -m MODULE"
        raise ValueError(msg)
    return parse_target(options.target, argv)


def _depth(options: argparse.Namespace) -> Depth:
    if options.quick:
        return "quick"
    return "full" if options.full else "default"


def _contract(options: argparse.Namespace, target: Target) -> Contract:
    return Contract(
        rtol=DEFAULT_RTOL if options.rtol is None else options.rtol,
        atol=DEFAULT_ATOL if options.atol is None else options.atol,
        horizon=options.horizon,
        depth=_depth(options),
        compare=options.compare,
        target=" ".join([target.text, *target.argv]),
        command=again.again(target, options),
        kind="workload" if target.kind == "name" else "program",
    )


def run(options: argparse.Namespace) -> int:
    """Audit, show the ledger, and return the exit code.

    Raises ``ValueError`` for a target or an option that cannot be used, ``AuditError``
    when the target cannot be audited, ``OSError`` when a result cannot be written.
    """
    target = _target(options)
    kept = None if options.output is None else output.folder(options.output)
    output.check([options.html])
    _say_dropped()
    with TemporaryDirectory(prefix="compile-ledger-") as scratch:
        folder = kept or Path(scratch)
        ledger = _audit(target, folder.absolute(), options)
        if kept is not None:
            (folder / output.LEDGER_FILE).write_bytes(form("json")(ledger))
    output.show(ledger, options)
    return output.exit_code(ledger, options)


def _say_dropped() -> None:
    for variable, effect in dropped().items():
        sys.stderr.write(f"dropped in every arm: {variable}, which would {effect}\n")


def _audit(target: Target, folder: Path, options: argparse.Namespace) -> Ledger:
    terms = Terms(
        target=target,
        folder=folder,
        compare=options.compare,
        max_calls=options.max_calls,
        whole=options.whole,
        timeout=options.timeout,
        threads=options.threads,
        rtol=options.rtol,
        atol=options.atol,
    )
    with Progress() as progress:
        return Audit(terms, _contract(options, target), progress).run()
