"""Cache lines and answers as fragments of HTML for notebooks. Every text is escaped."""

from __future__ import annotations

from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from compile_ledger.facts.cache_line import CacheLine
from compile_ledger.facts.what_if import WhatIf
from compile_ledger.judge.program_names import frame_name
from compile_ledger.render import cache_line_words as worded
from compile_ledger.render import words
from compile_ledger.render.cache_line_question import verdict
from compile_ledger.render.cache_line_rows import line_rows


def html(found: CacheLine) -> str:
    """The cache lines of a region as one table for each code object."""
    return _render("line.html.j2", found=found)


def question_html(found: WhatIf) -> str:
    """What a call would do, and each entry's answer."""
    return _render("question.html.j2", found=found)


def _render(template: str, **values: Any) -> str:
    environment = Environment(
        loader=PackageLoader(__name__),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_finalize,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals.update(worded=worded, words=words, line_rows=line_rows, verdict=verdict)
    environment.globals["frame_name"] = frame_name
    return environment.get_template(template).render(**values)


def _finalize(value: object) -> object:
    """What an expression prints: text freed of control characters."""
    return value if isinstance(value, Markup) else words.clean(str(value))
