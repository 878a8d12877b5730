"""The file format of a recording: one JSON object a line, the kind of fact first.

A line is ``{"fact":"compile",...}``, the fields being those of the dataclass of
that kind. Unknown fields are ignored, unknown kinds are counted, so that an
older reader reads a newer recording as far as it can.

History of the version:

* 1: first version.
"""

from __future__ import annotations

from typing import Any

import msgspec

from .agreement import Agreement
from .arm import Costs, Goodbye, Header, Lost, Toolchain
from .cache_line import LineReading
from .calls import Call, Counters
from .compile import Compile
from .environment import Capability
from .opinion import Opinion
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
    "timeline": Timeline,
    "toolchain": Toolchain,
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


def encode(fact: Any) -> bytes:
    """One line, newline included. NaN and infinities become null.

    Raises ``KeyError`` for an object that is no fact, ``UnicodeEncodeError`` for a
    text that holds lone surrogates.
    """
    kind = _NAMES[type(fact)]
    body = _ENCODER.encode(fact)
    joint = b"" if body == b"{}" else b","
    return b'{"fact":"' + kind.encode() + b'"' + joint + body[1:] + b"\n"


def decode(line: bytes) -> Any:
    """The fact that a line holds.

    Raises :class:`UnknownKindError` and :class:`DamagedLineError`; never anything else,
    whatever the bytes.
    """
    try:
        raw = _DECODER.decode(line)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        msg = f"not JSON: {error}"
        raise DamagedLineError(msg) from error
    kind = raw.get("fact") if isinstance(raw, dict) else None
    if not isinstance(kind, str):
        msg = "a line that does not say what fact it is"
        raise DamagedLineError(msg)
    if kind not in KINDS:
        raise UnknownKindError(kind[:40])
    try:
        return msgspec.convert(raw, KINDS[kind])
    except (msgspec.ValidationError, RecursionError) as error:
        msg = f"not a {kind}: {error}"
        raise DamagedLineError(msg) from error
