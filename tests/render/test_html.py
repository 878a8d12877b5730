"""The HTML form: one offline file, nothing live in it, and what it says."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compile_ledger.judge.document import CodeObjectRow, Ledger
from compile_ledger.render.html import html

from .all_samples import SAMPLES
from .hostile import poisoned
from .sample_failures import breaks, interrupted, not_worth_it
from .sample_varlen import clean, varlen

EVERY = pytest.mark.parametrize("name", SAMPLES)
HOSTILE = "<script>alert(1)</script>\"onmouseover='x' <img src=//evil/x> \u202e\x00{{ 7*7 }}"
LOADING = {"src", "href", "srcset", "data", "action", "poster", "background", "xlink:href"}


class Page(HTMLParser):
    """Tags, attributes and text of a page, as a browser would take them apart."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.texts: dict[str, list[str]] = {}
        self.open: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]
        if tag not in ("meta", "br", "line", "rect", "circle"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        for tag in set(self.open):
            self.texts.setdefault(tag, []).append(data)

    def text(self, tag: str = "body") -> str:
        return " ".join(" ".join(self.texts.get(tag, [])).split())


def read(ledger: Ledger) -> Page:
    return Page(html(ledger))


def assert_inert(page: Page) -> None:
    names = {name for name, _ in page.attributes}
    assert not names & LOADING
    assert not [name for name in names if name.startswith("on")]
    assert page.tags.count("script") == 1
    assert not {"img", "link", "iframe", "object", "embed", "base", "form"} & set(page.tags)
    assert page.open == []


@EVERY
def test_the_page_is_whole_and_loads_nothing(name: str) -> None:
    page = html(SAMPLES[name]())
    assert_inert(Page(page))
    assert "http:" not in page
    assert "https:" not in page
    assert "url(" not in page
    assert "@import" not in page


@EVERY
def test_a_strangers_texts_are_only_text(name: str) -> None:
    page = html(poisoned(SAMPLES[name](), HOSTILE))
    assert_inert(Page(page))
    assert "<script>alert" not in page
    assert "\u202e" not in page
    assert "\x00" not in page
    assert "{{ 7*7 }}" in Page(page).text()


@settings(max_examples=25, deadline=None)
@given(st.text(max_size=40))
def test_no_text_at_all_becomes_markup(poison: str) -> None:
    ledger = breaks()
    assert read(poisoned(ledger, f"x{poison}")).tags == read(poisoned(ledger, "x")).tags


def test_lone_surrogates_can_be_written_to_a_file() -> None:
    assert html(poisoned(varlen(), "\udcff")).encode()


@EVERY
def test_the_policy_allows_our_own_script_only(name: str) -> None:
    page = read(SAMPLES[name]())
    script = "".join(page.texts["script"])
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = next(v for n, v in page.attributes if n == "content" and "default-src" in v)
    assert policy.startswith("default-src 'none'; style-src 'unsafe-inline';")
    assert f"script-src 'sha256-{digest}';" in policy


@EVERY
def test_the_five_levels_stand_in_order(name: str) -> None:
    text = read(SAMPLES[name]()).text("ol")
    found = re.findall(r"\d (RUNS|CORRECT|CAPTURED|STABLE|WORTH IT) ", text)
    assert found[:5] == ["RUNS", "CORRECT", "CAPTURED", "STABLE", "WORTH IT"]


def test_the_failure_is_told_whole() -> None:
    page = read(varlen())
    text = page.text()
    assert "STABLE fails" in page.text("h1")
    assert page.text("title").startswith("STABLE fails: examples/varlen_service.py:workload")
    for said in (
        "idx axis 1 took 12 distinct lengths in 13 calls",
        "/srv/app/examples/varlen_service.py:58",
        "13 calls: 1 compiled, 7 recompiled, 1 reused, 1 refused, 3 fell back",
        "0 compiled; 1 to 5 recompiled; 6 reused; 7 to 8 recompiled; 9 refused; 10 to 12 fell back",
        "diagnosis holds: 8 compiles became 2",
        "recompile_limit = 8 hit at call 9",
        "compile-ledger audit --full examples/varlen_service.py:workload",
        "it shows when compiling happens, not what inductor costs or saves",
        "absent: this torch does not count guard refusals",
    ):
        assert said in text


def test_the_curve_names_its_axes_and_its_arms() -> None:
    text = read(not_worth_it()).text("svg")
    assert "CPU time" in text
    assert "calls" in text
    assert "cold (compiled, no caches) 2.34 s in 2,000 calls" in text
    assert "eager 28.4 ms in 2,000 calls" in text


def test_break_even_stands_beside_the_horizon() -> None:
    text = read(not_worth_it()).text("table")
    assert "saving per call (CPU) 300 ns [120 ns to 480 ns]" in text
    assert "the region's share of a cold start is repaid after 31,400,000 calls" in text
    assert "2,000 calls (the stream's own length)" in text


def test_what_was_not_measured_is_never_a_pass() -> None:
    text = read(interrupted()).text()
    assert "✓" not in text
    assert text.count("? not measured") == 5


def test_a_clean_run_has_one_calm_verdict() -> None:
    page = read(clean())
    assert page.text("h1") == "✓ No level fails"
    assert "✗" not in page.text()
    assert "can be ignored: it settled" in page.text()


def test_thousands_of_calls_share_cells() -> None:
    page = html(not_worth_it())
    assert page.count('<li class="d-') < 500
    assert "calls 9 to 17, at worst: reused" in page


def test_code_objects_that_were_only_passed_through_are_folded() -> None:
    idle = CodeObjectRow(9, "_call_impl", "/lib/torch/nn/module.py", 1782, library=True)
    page = read(replace(varlen(), code_objects=(*varlen().code_objects, idle)))
    assert "Code objects without compiles 1 _call_impl" in page.text("details")
    assert "_call_impl" not in page.text("article")


def test_breaks_stand_with_their_interval() -> None:
    assert "21.0 µs [15.5 µs to 26.9 µs]" in read(breaks()).text("table")


def test_what_each_entry_assumes_is_a_table_folded_where_it_is_long() -> None:
    page = read(varlen())
    text = page.text()
    assert "runs only what it has since 0/8" in text
    assert "0/7 61 1 1 idx size [1, 55] /srv/app/model.py:31" in text
    assert "invalidated: L['k'] got deallocated" in text
    assert "+ 38 assumptions in every entry" in text
    assert html(varlen()).count("<details open><summary>What each entry assumes") == 1
