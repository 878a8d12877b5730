"""The file format of a recording: one JSON object a line, the kind of fact first.

A line is ``{"fact":"compile","n":17,...}``, the fields being those of the dataclass of
that kind, and ``n`` its number in the recording, from 0: a number that is missing is a
line that was lost. Unknown fields are ignored, unknown kinds are counted, so that an
older reader reads a newer recording as far as it can.

History of the version:

* 1: first version. Lines without a number are of a writer that gave none.
"""

from __future__ import annotations

from typing import Any

import msgspec

from .agreement import Agreement
from .arm import Costs, Goodbye, Header, Lost, MissedState, Toolchain
from .cache_line import LineReading
from .calls import Call, Counters
from .compile import Compile
from .contract import Stated
from .environment import Capability
from .opinion import Opinion
from .outside import Operators, OwnCalls
from .region import CodeObject, Region
from .timeline import Timeline
from .timing import Ablation, GuardLookup, SteadyState

FORMAT = "compile-ledger-recording"
VERSION = 1
SUFFIX = ".ledger.jsonl"

KINDS: dict[str, type] = {
    "header": Header,
    "capability": Capability,
    "region": Region,
    "code_object": CodeObject,
    "compile": Compile,
    "call": Call,
    "counters": Counters,
    "cache_line": LineReading,
    "agreement": Agreement,
    "steady": SteadyState,
    "guard_lookup": GuardLookup,
    "ablation": Ablation,
    "opinion": Opinion,
    "own_calls": OwnCalls,
    "operators": Operators,
    "missed_state": MissedState,
    "timeline": Timeline,
    "toolchain": Toolchain,
    "stated": Stated,
    "costs": Costs,
    "lost": Lost,
    "goodbye": Goodbye,
}

_NAMES = {cls: kind for kind, cls in KINDS.items()}
_ENCODER = msgspec.json.Encoder()
_DECODER = msgspec.json.Decoder()


class UnknownKindError(ValueError):
    """A line of a kind that this version does not know."""


class DamagedLineError(ValueError):
    """A line that is not JSON, or not the fact that it says it is."""


def encode(fact: Any, number: int | None = None) -> bytes:
    """One line, newline included. NaN, infinities become null; lone surrogates are written out.

    Raises ``KeyError`` for an object that is no fact.
    """
    head = b'{"fact":"' + _NAMES[type(fact)].encode() + b'"'
    head += b"" if number is None else b',"n":%d' % number
    try:
        body = _ENCODER.encode(fact)
    except UnicodeEncodeError:
        body = _ENCODER.encode(without_surrogates(msgspec.to_builtins(fact)))
    return head + (b"" if body == b"{}" else b",") + body[1:] + b"\n"


def without_surrogates(value: Any) -> Any:
    """Plain data in which text that UTF-8 cannot hold is written out (as backslash, u, d, c).

    File names and messages that are no valid UTF-8 have it (PEP 383).
    """
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, dict):
        return {without_surrogates(k): without_surrogates(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [without_surrogates(item) for item in value]
    return value


def decode(line: bytes) -> Any:
    """The fact that a line holds. Raises as :func:`fact_in` and :func:`parse` do."""
    return fact_in(parse(line))


def parse(line: bytes) -> dict[str, Any]:
    """The fields of a line that says which kind of fact it is.

    Raises :class:`DamagedLineError`, and nothing else whatever the bytes.
    """
    try:
        raw = _DECODER.decode(line)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        msg = f"not JSON: {error}"
        raise DamagedLineError(msg) from error
    if not isinstance(raw, dict) or not isinstance(raw.get("fact"), str):
        msg = "a line that does not say what fact it is"
        raise DamagedLineError(msg)
    return raw


def fact_in(raw: dict[str, Any]) -> Any:
    """The fact of the fields that :func:`parse` gave.

    Raises :class:`UnknownKindError` and :class:`DamagedLineError`.
    """
    kind = raw["fact"]
    if kind not in KINDS:
        raise UnknownKindError(kind[:40])
    try:
        return msgspec.convert(raw, KINDS[kind])
    except (msgspec.ValidationError, RecursionError) as error:
        msg = f"not a {kind}: {error}"
        raise DamagedLineError(msg) from error
