"""The Markdown form: what it says, and that nothing quoted in it is live."""

from __future__ import annotations

import re

import pytest

from compile_ledger.render.markdown import code, markdown, text

from .all_samples import SAMPLES
from .hostile import poisoned
from .sample_varlen import clean, varlen

EVERY = pytest.mark.parametrize("name", SAMPLES)
HOSTILE = "|`<script>`</details> @someone #12 :smile: https://evil.example ![x](y)\n\n# head"
OURS = re.compile(r"</?(details|summary|sub)>|<!-- -->")


def test_the_verdict_comes_first() -> None:
    assert markdown(varlen()).startswith(
        "### ✗ STABLE fails\n\nidx axis 1 took 12 distinct lengths in 13 calls"
    )
    assert markdown(clean()).startswith("### ✓ No level fails\n")


@EVERY
def test_five_levels_in_order(name: str) -> None:
    found = re.findall(r"^\| \*\*([A-Z ]+)\*\* \|", markdown(SAMPLES[name]()), re.MULTILINE)
    assert found == ["RUNS", "CORRECT", "CAPTURED", "STABLE", "WORTH IT"]


@EVERY
def test_every_table_row_keeps_its_columns(name: str) -> None:
    page = markdown(poisoned(SAMPLES[name](), HOSTILE))
    for block in re.findall(r"(?:^\|.*\n)+", page, re.MULTILINE):
        widths = {len(re.findall(r"(?<!\\)\|", row)) for row in block.splitlines()}
        assert len(widths) == 1


@EVERY
def test_a_strangers_texts_are_not_live(name: str) -> None:
    page = markdown(poisoned(SAMPLES[name](), HOSTILE))
    outside = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", page)
    assert "<" not in OURS.sub("", outside)
    assert "@someone" not in outside
    assert "#12" not in outside
    assert ":smile:" not in outside
    assert "https:" not in outside
    assert "\n# head" not in page


def test_commands_and_the_experiment_are_there() -> None:
    page = markdown(varlen())
    assert "`compile-ledger audit --full examples/varlen_service.py:workload`" in page
    assert "| before | 8 | 7 | 1 | 3 | 0 | no | 6.85 s |" in page


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("a*b_c|d", r"a\*b\_c\|d"),
        ("- item", r"\- item"),
        ("12. item", r"12\. item"),
        ("x < y & z", "x &lt; y &amp; z"),
        ("a@b.c #7", r"a@<!-- -->b.c \#<!-- -->7"),
        ("at 7.2e-07, 1.04x", "at 7.2e-07, 1.04x"),
    ],
)
def test_text(value: str, expected: str) -> None:
    assert text(value) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [("x", "`x`"), ("a`b", "`` a`b ``"), ("```", "```` ``` ````"), ("", "`  `"), ("a\nb", "`a b`")],
)
def test_code(value: str, expected: str) -> None:
    assert code(value) == expected
