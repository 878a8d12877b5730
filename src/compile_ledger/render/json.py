"""``ledger.json``: the judged document as it is, and its JSON Schema."""

from __future__ import annotations

from typing import Any

import msgspec

from compile_ledger.facts.codec import without_surrogates
from compile_ledger.judge.document import LEVELS, SCHEMA_VERSION, Ledger

DIALECT = "https://json-schema.org/draft/2020-12/schema"


class LedgerFileError(ValueError):
    """A file that is not a ledger this version can read; the message is one line."""


class _Peek(msgspec.Struct):
    schema_version: str


def to_json(ledger: Ledger) -> bytes:
    """The ledger as UTF-8 JSON, indented by two, ending in a newline.

    Equal ledgers give equal bytes. JSON has no infinity or NaN: they become null.
    Lone surrogates, as undecodable file names have, are written escaped.
    """
    try:
        packed = msgspec.json.encode(ledger, order="deterministic")
    except UnicodeEncodeError:
        plain = without_surrogates(msgspec.to_builtins(ledger))
        packed = msgspec.json.encode(plain, order="deterministic")
    return msgspec.json.format(packed, indent=2) + b"\n"


def from_json(data: bytes | str) -> Ledger:
    """The ledger in ``data``, as :func:`to_json` wrote it.

    Unknown fields are ignored, so that a newer minor version can be read. Raises
    :class:`LedgerFileError` for anything else: no JSON, another major version, a
    field of the wrong type, or not five levels.
    """
    _check_version(data)
    try:
        ledger = msgspec.json.decode(data, type=Ledger)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        message = f"damaged ledger: {_one_line(error)}"
        raise LedgerFileError(message) from error
    if tuple(level.level for level in ledger.levels) != LEVELS:
        message = f"damaged ledger: the levels are not {', '.join(LEVELS)} in this order"
        raise LedgerFileError(message)
    return ledger


def json_schema() -> dict[str, Any]:
    """The JSON Schema of ``ledger.json``, generated from the dataclasses."""
    schema = msgspec.json.schema(Ledger)
    title = f"compile-ledger ledger, schema {SCHEMA_VERSION}"
    return {"$schema": DIALECT, "title": title, **schema}


def _check_version(data: bytes | str) -> None:
    try:
        found = msgspec.json.decode(data, type=_Peek).schema_version
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        message = f"not a ledger: {_one_line(error)}"
        raise LedgerFileError(message) from error
    ours = SCHEMA_VERSION.partition(".")[0]
    if found.partition(".")[0] != ours:
        message = (
            f"ledger of schema {found[:20]!r}: this version reads {ours}.x; "
            "use the compile-ledger that wrote it"
        )
        raise LedgerFileError(message)


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split())[:200]
