"""Every wording of a guard failure from torch 2.4 to 2.14 has its kind."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from compile_ledger.facts.place import Place
from compile_ledger.judge.classify_guard import KINDS, classify_guard

ROWS: list[dict[str, Any]] = json.loads(
    (Path(__file__).parent / "guard_texts.json").read_text(encoding="utf-8")
)


def test_the_corpus_covers_every_kind() -> None:
    assert len(ROWS) > 300
    assert {row["kind"] for row in ROWS} == set(KINDS)


@pytest.mark.parametrize("row", ROWS, ids=[row["text"][:60] for row in ROWS])
def test_text_is_classified(row: dict[str, Any]) -> None:
    found = classify_guard(row["text"])
    assert found.kind == row["kind"]
    assert found.subject == row.get("subject", "")
    assert found.axis == row.get("axis")
    assert found.expected == row.get("expected", "")
    assert found.actual == row.get("actual", "")
    assert found.scope == row.get("scope", "")
    assert found.entry == row.get("entry", "")
    assert found.hint == row.get("hint", "")
    line = row.get("line")
    assert found.user_line == (Place(*line) if line else None)
    assert found.text == row["text"]


@pytest.mark.parametrize(
    "text",
    ["the moon is full", "we expected x == 3 but it was not", "isinstance(x, Foo)", "?", "\n\n?"],
)
def test_unknown_text_is_other_and_kept_whole(text: str) -> None:
    found = classify_guard(text)
    assert (found.kind, found.subject, found.text) == ("other", "", text)


@pytest.mark.parametrize("prefix", ["", "0/0: ", "- 0/0: ", "    - 12/3: ", "!1/0_2: "])
@pytest.mark.parametrize("name", ["x", "L['x']", 'L["x"]'])
def test_prefix_and_local_spelling_change_nothing_but_the_entry(prefix: str, name: str) -> None:
    text = f"{prefix}tensor '{name}' size mismatch at index 2. expected 4, actual 8"
    found = classify_guard(text)
    assert (found.kind, found.subject, found.axis) == ("size", "x", 2)
    assert (found.expected, found.actual) == ("4", "8")
    assert found.entry == prefix.strip(" -:")


def test_a_hash_in_a_string_does_not_end_the_guard() -> None:
    found = classify_guard("s == 'a # b'  # return s  # app.py:3 in f")
    assert found.expected == "'a # b'"
    assert found.user_line == Place("app.py", 3, "f")


def test_lines_of_the_compiler_are_not_the_users() -> None:
    found = classify_guard("a == 1.5  # (_dynamo/output_graph.py:3375 in remove_specialized)")
    assert found.user_line is None
    assert found.expected == "1.5"


def test_every_kind_says_cause_and_mechanism() -> None:
    for kind in KINDS.values():
        assert kind.title, kind
        assert kind.cause, kind
        assert kind.mechanism, kind
