"""The user's line that a guard names is shown beside the line of torch.compile."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from compile_ledger.facts.place import Place
from compile_ledger.judge.document import Ledger
from compile_ledger.render.html import html
from compile_ledger.render.markdown import markdown

from .sample_varlen import varlen
from .test_terminal import shown


def _guarded() -> Ledger:
    ledger = varlen()
    first, *rest = ledger.findings
    return replace(ledger, findings=(replace(first, guarded=Place("model.py", 77)), *rest))


@pytest.mark.parametrize(
    ("form", "said"),
    [
        (shown, "guarded at model.py:77"),
        (markdown, ", guarded at `model.py:77`"),
        (html, '<br>guarded at <code class="place" title="model.py:77">model.py:77</code>'),
    ],
    ids=["terminal", "markdown", "html"],
)
def test_the_guards_line_is_shown_where_there_is_one(
    form: Callable[[Ledger], str], said: str
) -> None:
    assert said in form(_guarded())
    assert "guarded at" not in form(varlen())


@pytest.mark.parametrize(
    ("form", "said"),
    [
        (shown, "  guarded at  model.py:77\n"),
        (markdown, "- **guarded at** `model.py:77`"),
        (html, "<dt>Guarded at</dt>"),
    ],
    ids=["terminal", "markdown", "html"],
)
def test_the_guards_line_stands_with_the_verdict(form: Callable[[Ledger], str], said: str) -> None:
    assert said in form(_guarded())
    assert said not in form(varlen())
