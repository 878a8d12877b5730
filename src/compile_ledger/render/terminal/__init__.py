"""The terminal form: at most 80 columns, the verdict first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from .body import breaks, environment, findings, not_measured
from .cache_lines import cache_lines
from .calls import strip
from .experiments import experiments
from .lines import ledger_lines
from .opinions import opinions
from .page import Page
from .top import levels, raised, verdict

if TYPE_CHECKING:
    from rich.console import Console

    from compile_ledger.judge.document import Ledger

Section = Callable[[Page, "Ledger"], None]

SUMMARY: tuple[Section, ...] = (verdict, raised, levels)
"""What comes first, and is enough while arms are still running."""

SECTIONS: tuple[Section, ...] = (
    *SUMMARY,
    ledger_lines,
    strip,
    findings,
    cache_lines,
    breaks,
    opinions,
    experiments,
    not_measured,
    environment,
)
"""What is printed, in order; each takes the page and the ledger and may print nothing."""


def terminal(ledger: Ledger, console: Console) -> None:
    """Print ``ledger`` to ``console``, at most 80 columns wide or as wide as it is.

    Plain ASCII when the console's encoding is not UTF-8. Colour is the console's
    own decision; every mark that is coloured is also a word or a letter.
    """
    _print(SECTIONS, ledger, console)


def summary(ledger: Ledger, console: Console) -> None:
    """Print the verdict and the five levels alone, as :func:`terminal` does."""
    _print(SUMMARY, ledger, console)


def _print(sections: Sequence[Section], ledger: Ledger, console: Console) -> None:
    page = Page(console)
    for section in sections:
        section(page, ledger)


__all__ = ["SECTIONS", "SUMMARY", "summary", "terminal"]
