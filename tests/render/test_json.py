"""ledger.json: round trip, schema, and files that are not ours."""

from __future__ import annotations

import json
from dataclasses import fields, replace

import jsonschema
import pytest

from compile_ledger.facts.place import Place
from compile_ledger.judge.consistency import contradictions
from compile_ledger.judge.document import Ledger
from compile_ledger.render.json import LedgerFileError, from_json, json_schema, to_json

from .all_samples import SAMPLES
from .sample_varlen import varlen

EVERY = pytest.mark.parametrize("name", SAMPLES)


@EVERY
def test_no_sample_disagrees_with_itself(name: str) -> None:
    assert contradictions(SAMPLES[name]()) == ()


@EVERY
def test_a_ledger_comes_back_equal(name: str) -> None:
    ledger = SAMPLES[name]()
    assert from_json(to_json(ledger)) == ledger


@EVERY
def test_a_ledger_fits_the_schema(name: str) -> None:
    schema = json_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(json.loads(to_json(SAMPLES[name]())), schema)


def test_the_schema_refuses_an_unknown_status() -> None:
    document = json.loads(to_json(varlen()))
    document["levels"][0]["status"] = "perhaps"
    with pytest.raises(jsonschema.ValidationError, match="perhaps"):
        jsonschema.validate(document, json_schema())


def test_the_bytes_are_deterministic_indented_and_end_in_a_newline() -> None:
    packed = to_json(varlen())
    assert packed == to_json(from_json(packed))
    assert packed.startswith(b'{\n  "schema_version": "1.0"')
    assert packed.endswith(b"}\n")


def test_top_level_fields_are_the_documented_ones() -> None:
    assert list(json.loads(to_json(varlen()))) == [field.name for field in fields(Ledger)]


def test_unknown_fields_and_newer_minor_versions_are_read() -> None:
    document = json.loads(to_json(varlen()))
    document["schema_version"] = "1.7"
    document["invented"] = {"later": True}
    document["findings"][0]["invented"] = 1
    assert from_json(json.dumps(document)) == replace(varlen(), schema_version="1.7")


def _changed(**changes: object) -> bytes:
    return json.dumps({**json.loads(to_json(varlen())), **changes}).encode()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "not a ledger"),
        (b"\xff\xfe{}", "not a ledger"),
        (b"[1, 2]", "not a ledger"),
        (b'{"hello": 1}', "not a ledger: .*schema_version"),
        (b"[" * 100_000, "not a ledger"),
        (_changed(schema_version="2.0"), r"schema '2\.0'.*reads 1\.x"),
        (_changed(schema_version="x" * 500), "schema 'xxx"),
        (_changed(levels=[]), "RUNS, CORRECT, CAPTURED, STABLE, WORTH_IT"),
        (_changed(target=7), r"damaged ledger: .*\$\.target"),
    ],
)
def test_what_is_not_a_ledger_is_refused_in_one_line(data: bytes, message: str) -> None:
    with pytest.raises(LedgerFileError, match=message) as caught:
        from_json(data)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300


def test_numbers_that_json_lacks_become_null() -> None:
    ledger = replace(varlen(), correctness=replace(varlen().correctness, worst_ratio=float("inf")))
    assert from_json(to_json(ledger)).correctness.worst_ratio is None


def test_undecodable_file_names_are_written_escaped() -> None:
    diagnosis = varlen().diagnosis
    assert diagnosis is not None
    ledger = replace(varlen(), diagnosis=replace(diagnosis, site=Place("/srv/\udcff.py", 1)))
    back = from_json(to_json(ledger)).diagnosis
    assert back is not None
    assert back.site == Place("/srv/\\udcff.py", 1)
