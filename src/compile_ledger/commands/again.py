"""The same audit again, as words that a shell takes."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterator

from compile_ledger.experiment.targets import Target

TIMEOUT = 900.0
COMPARE = 8
THREADS = 1

_KEPT = {
    "--max-calls": None,
    "--timeout": TIMEOUT,
    "--compare": COMPARE,
    "--threads": THREADS,
    "--rtol": None,
    "--atol": None,
    "--horizon": None,
}
"""Options that bound or judge the runs, with their defaults; where the output goes is left out."""


def again(target: Target, options: argparse.Namespace) -> str:
    """What goes after ``audit``: the options that are kept, the target, the program's arguments."""
    return shlex.join([*_options(options), *_words(target)])


def _options(options: argparse.Namespace) -> Iterator[str]:
    if options.whole:
        yield "--whole"
    for option, default in _KEPT.items():
        value = getattr(options, option.strip("-").replace("-", "_"))
        if value != default:
            yield from (option, repr(value).removesuffix(".0"))


def _words(target: Target) -> list[str]:
    named = ["-m", target.path] if target.kind == "module" else [target.text]
    return [*named, "--", *target.argv] if target.argv else named
