"""Let the environment start the recorder: once for this Python, then COMPILE_LEDGER_RECORD=DIR.

Writes one .pth file into this Python's site-packages. From then on

    COMPILE_LEDGER_RECORD=DIR python anything.py

records, children of any start method included; without the variable nothing is
imported. --off takes the file away again.
"""

from __future__ import annotations

import argparse
import sys
import sysconfig
from pathlib import Path

NAME = "zz_compile_ledger.pth"
"""Sorted last, so that what makes this package importable comes before it."""

LINE = (
    "import os; exec('try:\\n from compile_ledger.startup.boot import activate\\n activate()"
    "\\nexcept Exception: pass') if os.environ.get('COMPILE_LEDGER_RECORD') else None\n"
)


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``activate``."""
    parser.add_argument("--off", action="store_true", help="take the file away again")


def run(options: argparse.Namespace) -> int:
    """Write or remove the file. Raises ``ValueError`` where that is not allowed."""
    path = Path(sysconfig.get_paths()["purelib"]) / NAME
    try:
        if options.off:
            path.unlink(missing_ok=True)
        else:
            path.write_text(LINE, encoding="utf-8")
    except OSError as error:
        msg = (
            f"cannot change {path.parent} ({error.strerror}): use a virtual environment, or "
            "compile-ledger record"
        )
        raise ValueError(msg) from error
    if options.off:
        sys.stdout.write(f"removed {path}\n")
    else:
        sys.stdout.write(f"wrote {path}\nnow: COMPILE_LEDGER_RECORD=DIR python anything.py\n")
    return 0
