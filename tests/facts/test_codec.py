"""One fact a line: every kind comes back equal, and no bytes at all break the reader."""

from __future__ import annotations

import dataclasses
import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compile_ledger.facts.arm import Goodbye, Header, Lost
from compile_ledger.facts.calls import Call
from compile_ledger.facts.codec import (
    KINDS,
    DamagedLineError,
    UnknownKindError,
    decode,
    encode,
)
from compile_ledger.facts.timing import SteadyState

WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
WHOLE = st.integers(-(2**63), 2**63 - 1)
for kind, strategy in ((str, WORDS), (float, NUMBERS), (int, WHOLE)):
    st.register_type_strategy(kind, strategy)

EVERY_KIND = pytest.mark.parametrize("kind", KINDS)
FACTS: st.SearchStrategy[Any] = st.one_of([st.from_type(KINDS[kind]) for kind in KINDS])


def fields_of(line: bytes) -> dict[str, Any]:
    return dict(json.loads(line))


@EVERY_KIND
@given(data=st.data())
def test_a_fact_of_every_kind_comes_back_equal(kind: str, data: st.DataObject) -> None:
    fact = data.draw(st.from_type(KINDS[kind]))
    line = encode(fact)
    assert decode(line) == fact
    assert fields_of(line)["fact"] == kind


@given(FACTS)
def test_a_fact_is_one_line_whatever_its_texts_hold(fact: Any) -> None:
    line = encode(fact)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert b"\r" not in line


@EVERY_KIND
@given(data=st.data())
def test_unknown_fields_are_ignored(kind: str, data: st.DataObject) -> None:
    fact = data.draw(st.from_type(KINDS[kind]))
    newer = fields_of(encode(fact)) | {"invented_later": [1, {"deep": None}]}
    assert decode(json.dumps(newer).encode()) == fact


@EVERY_KIND
def test_fields_left_out_take_their_defaults_and_needed_ones_are_asked_for(kind: str) -> None:
    needed = [
        field.name
        for field in dataclasses.fields(KINDS[kind])
        if field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
    ]
    line = json.dumps({"fact": kind}).encode()
    if not needed:
        assert decode(line) == KINDS[kind]()
        return
    with pytest.raises(DamagedLineError, match=f"not a {kind}.*{needed[0]}"):
        decode(line)


@given(st.binary())
def test_bytes_of_any_kind_raise_nothing_but_the_two_errors(line: bytes) -> None:
    with pytest.raises((DamagedLineError, UnknownKindError)):
        decode(line)


@given(FACTS, st.data())
def test_a_line_cut_anywhere_is_damaged(fact: Any, data: st.DataObject) -> None:
    line = encode(fact).rstrip(b"\n")
    cut = data.draw(st.integers(0, len(line) - 1))
    with pytest.raises(DamagedLineError, match="not JSON"):
        decode(line[:cut])


@given(FACTS, st.integers(0, 10_000), st.integers(0, 255))
def test_a_line_with_one_wrong_byte_is_a_fact_or_one_of_the_two_errors(
    fact: Any, at: int, byte: int
) -> None:
    line = bytearray(encode(fact))
    line[at % len(line)] = byte
    try:
        found = decode(bytes(line))
    except (DamagedLineError, UnknownKindError):
        return
    assert type(found) in KINDS.values()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | NUMBERS | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=8,
)


@EVERY_KIND
@given(data=st.data())
def test_fields_of_any_json_are_a_fact_or_damage(kind: str, data: st.DataObject) -> None:
    names = st.sampled_from([field.name for field in dataclasses.fields(KINDS[kind])])
    hostile = data.draw(st.dictionaries(names, JSON)) | {"fact": kind}
    try:
        found = decode(json.dumps(hostile).encode())
    except DamagedLineError:
        return
    assert type(found) is KINDS[kind]


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"null",
        b"[]",
        b'"header"',
        b"{}",
        b'{"fact":null}',
        b'{"fact":["call"]}',
        b'{"fact":{"fact":"call"}}',
        b"[" * 100_000,
        b'{"fact":' * 50_000,
        b'{"fact":"call","region":1e999,"index":0}',
        b'{"fact":"call","region":' + b"9" * 5000 + b',"index":0}',
        b'{"fact":"call","region":NaN,"index":0}',
        b'{"fact":"call","region":true,"index":0}',
        b'{"fact":"call","region":"0","index":0}',
        b'{"fact":"call","region":0,"index":0,"disposition":"perhaps"}',
        b'{"fact":"lost","where":"\xff\xfe","why":""}',
        b'\xef\xbb\xbf{"fact":"costs"}',
    ],
)
def test_a_line_that_is_no_fact_is_damaged(line: bytes) -> None:
    with pytest.raises(DamagedLineError):
        decode(line)


def test_nesting_that_json_allows_but_no_fact_has_is_damaged() -> None:
    deep = b'{"fact":"lost","where":' + b"[" * 900 + b"]" * 900 + b',"why":""}'
    with pytest.raises(DamagedLineError):
        decode(deep)


@given(WORDS.filter(lambda word: word not in KINDS))
def test_an_unknown_kind_is_told_apart_from_damage_and_its_name_is_kept_short(kind: str) -> None:
    with pytest.raises(UnknownKindError) as caught:
        decode(json.dumps({"fact": kind * 9}).encode())
    assert len(str(caught.value)) <= 40
    assert (kind * 9).startswith(str(caught.value))


def test_not_a_number_and_infinity_become_null_so_that_any_json_reader_reads_the_line() -> None:
    from compile_ledger.facts.agreement import Agreement

    line = encode(Agreement(0, 0, "out", "differs", max_abs=math.inf, error_eager=math.nan))
    assert (fields_of(line)["max_abs"], fields_of(line)["error_eager"]) == (None, None)
    assert decode(line).max_abs is None


def test_integers_of_64_bits_are_kept_exactly() -> None:
    fact = SteadyState(0, "interleaved calls", eager=(2**63 - 1, -(2**63)))
    assert decode(encode(fact)) == fact


def test_what_is_no_fact_is_refused() -> None:
    with pytest.raises(KeyError):
        encode("a text")


def test_text_that_is_no_utf_8_is_written_out() -> None:
    name = b"na\xffme".decode("utf-8", "surrogateescape")
    assert decode(encode(Lost("file", name))) == Lost("file", "na\\udcffme")


def test_a_number_is_no_field_of_the_fact() -> None:
    line = encode(Lost("file", "full"), 7)
    assert fields_of(line)["n"] == 7
    assert decode(line) == Lost("file", "full")


def test_the_kind_stands_first_so_that_a_line_can_be_skipped_unread() -> None:
    assert encode(Goodbye("finished")).startswith(b'{"fact":"goodbye",')
    assert encode(Header("f", 1, "t", 1)).startswith(b'{"fact":"header",')


def test_equal_facts_give_equal_bytes() -> None:
    one = Call(0, 1, "reused", runs={"0:0/0": 1}, sizes={"x": (3,)})
    assert encode(one) == encode(dataclasses.replace(one))
