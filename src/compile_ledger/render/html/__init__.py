"""The HTML form: one file that needs nothing else, offline, in light and dark.

Markup lives in ``templates/``, looks in ``style.css``, behaviour in ``script.js``;
what they show is worked out in the small modules beside them.
"""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files
from typing import TYPE_CHECKING

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from compile_ledger.judge.program_names import as_program_says, code_object_name
from compile_ledger.render import cache_line_words as worded
from compile_ledger.render import words
from compile_ledger.render.break_rows import break_cost_notes
from compile_ledger.render.cache_line_rows import line_rows
from compile_ledger.render.dispositions import LOOKS, occurring, strips, tally
from compile_ledger.render.gaps import gaps
from compile_ledger.render.headline import headline
from compile_ledger.render.instruments import shared_instrument
from compile_ledger.render.levels import MARKS, QUESTIONS, TITLES, why
from compile_ledger.render.ranking import groups

from . import costs
from .bars import bars
from .curve import curve

if TYPE_CHECKING:
    from compile_ledger.facts.cache_line import LineReading
    from compile_ledger.judge.document import CodeObjectRow, Ledger


def html(ledger: Ledger) -> str:
    """The whole report as one HTML document.

    Loads nothing from anywhere and forbids it by its own content security policy.
    Every text of the ledger is escaped and freed of control characters.
    """
    script = _asset("script.js")
    return (
        _environment()
        .get_template("page.html.j2")
        .render(
            ledger=ledger,
            headline=headline(ledger),
            gaps=gaps(ledger),
            groups=groups(ledger.findings),
            shared=shared_instrument(ledger.lines),
            strips=strips(ledger.arms, ledger.regions),
            curve=curve(ledger.arms),
            cost_rows=costs.rows(ledger.cost),
            cost_missing=costs.missing(ledger.cost),
            style=Markup(_asset("style.css")),  # noqa: S704 - our own file
            script=Markup(script),  # noqa: S704 - our own file
            script_hash=_hash(script),
        )
    )


def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader(__name__),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_finalize,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals.update(
        LOOKS=LOOKS, MARKS=MARKS, TITLES=TITLES, QUESTIONS=QUESTIONS,
        words=words, why=why, bars=bars, tally=tally, occurring=occurring,
        worded=worded, line_rows=line_rows, lines_of=_lines_of, frame_of=code_object_name,
        as_program_says=as_program_says,
        break_cost_notes=break_cost_notes,
    )  # fmt: skip
    environment.tests["worth_showing"] = _has_a_line
    return environment


def _has_a_line(code: CodeObjectRow) -> bool:
    """Whether Dynamo did anything with the code object beyond passing through it."""
    return bool(code.compiles or code.entries or code.limit or code.off)


def _lines_of(ledger: Ledger, code_object: int) -> list[LineReading]:
    """What was read of a code object at the end of the run; several where buckets are apart."""
    return [one for one in ledger.cache_lines if one.code_object == code_object]


def _finalize(value: object) -> object:
    """What an expression of a template prints: our own markup as it is, text made safe."""
    return value if isinstance(value, Markup) else words.clean_block(str(value))


def _asset(name: str) -> str:
    """The text of a file of this package, with the line ends that HTML parsers see."""
    text = files(__name__).joinpath(name).read_text(encoding="utf-8")
    return text.replace("\r\n", "\n")


def _hash(script: str) -> str:
    digest = hashlib.sha256(script.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


__all__ = ["html"]
