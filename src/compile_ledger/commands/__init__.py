"""One file a command; its docstring is its help. Nothing imports this package but the entry."""

from __future__ import annotations

import argparse
import sys
import traceback
from importlib import import_module
from typing import Any

from rich_argparse import RawDescriptionRichHelpFormatter

import compile_ledger

COMMANDS = {
    "activate": "let COMPILE_LEDGER_RECORD=DIR record any program of this Python",
    "audit": "find the first level of a workload that stopped holding",
    "env": "show what the recorder can see on this torch",
    "read": "judge a recording",
    "record": "record what one run of a program shows",
    "report": "show a ledger.json again, in any form",
    "watch": "look at a recording while it grows",
}
"""Name of a command, which is also its module here, to its one-line help."""

DESCRIPTION = """\
Names the first assumption of torch.compile that stopped holding in your program.

    compile-ledger audit script.py       run it several times, judge what was seen
    compile-ledger record script.py      run it once, as it is, and judge that with read

compile-ledger COMMAND --help explains each command."""

FAILED = 2
"""Exit code when the command could not do its work."""


def _parser(names: list[str]) -> argparse.ArgumentParser:
    """The parser; only the modules of the named commands are imported."""
    parser = argparse.ArgumentParser(
        prog="compile-ledger",
        description=DESCRIPTION,
        formatter_class=RawDescriptionRichHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=compile_ledger.__version__)
    commands = parser.add_subparsers(
        prog="compile-ledger",  # else the parser formats its usage now, and flushes stdout
        dest="command",
        metavar="COMMAND",
        required=True,
    )
    for name, summary in COMMANDS.items():
        module: Any = import_module(f"{__name__}.{name}") if name in names else None
        command = commands.add_parser(
            name,
            help=summary,
            description=module.__doc__ if module else summary,
            formatter_class=RawDescriptionRichHelpFormatter,
        )
        if module is not None:
            module.arguments(command)
    return parser


def main(argv: list[str] | None = None) -> int:
    """Run one command; returns the exit code.

    0: no level failed. 1: a level failed. 2: the command could not do its work, and
    said why in one line on stderr.
    """
    whole = sys.argv[1:] if argv is None else argv
    end = whole.index("--") if "--" in whole else len(whole)
    given, program = whole[:end], whole[end + 1 :]
    named = [name for name in given[:1] if name in COMMANDS]
    options = _parser(named).parse_args(given)
    options.program_arguments = program
    try:
        code: int = import_module(f"{__name__}.{options.command}").run(options)
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:
        import_module(f"{__name__}.output").close_stdout()
        return 0
    except (ValueError, OSError) as error:
        return _say(error)
    except Exception:  # noqa: BLE001  an exit code of 1 would say that a level failed
        return _own_fault()
    return code


def _own_fault() -> int:
    """Show a fault of ours whole, so that it can be reported."""
    traceback.print_exc()
    sys.stderr.write("compile-ledger: this is a fault of compile-ledger itself; please report it\n")
    return FAILED


def _say(error: Exception) -> int:
    line = " ".join(str(error).split())
    sys.stderr.write(f"compile-ledger: {line}\n")
    return FAILED
