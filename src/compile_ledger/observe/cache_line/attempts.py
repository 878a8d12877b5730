"""Compile attempts that the runtime still remembers: its ring of the last 64 records."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from types import CodeType
from typing import Any

_ID = re.compile(r"(?:!\d+/)?(\d+)/(\d+)(?:_\d+)?$")
_LEFT_ALONE = frozenset(
    {
        "BackendCompilerFailed",
        "InternalTorchDynamoError",
        "FailOnRecompileLimitHit",
    }
)
"""Failures that leave to the caller and do not switch the code object off."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One record: a compile of frame ``frame``, the ``number``-th on it."""

    frame: int
    number: int
    ops: int | None
    name: str
    file: str
    line: int
    fail_type: str
    fail_reason: str

    @property
    def compile_id(self) -> str:
        """The runtime's id, ``0/1``."""
        return f"{self.frame}/{self.number}"

    @property
    def hit_a_limit(self) -> bool:
        """Whether a limit refused it before anything was traced."""
        return not self.name and "limit" in f"{self.fail_type} {self.fail_reason}".lower()

    @property
    def switches_off(self) -> bool:
        """Whether a record of this form, without an entry, means the code is skipped."""
        return bool(self.name) and self.ops is None and self.fail_type not in _LEFT_ALONE


def attempts() -> list[Attempt]:
    """Attempts since the last ``torch._dynamo.reset``, oldest first, as far as kept."""
    from torch._dynamo import utils

    records: list[Any] = getattr(utils, "get_compilation_metrics", list)()
    return _present(filter(None, map(_attempt, records)))


def _attempt(record: Any) -> Attempt | None:
    match = _ID.match(str(getattr(record, "compile_id", None)))
    if match is None or getattr(record, "is_forward", True) is False:
        return None
    return Attempt(
        frame=int(match.group(1)),
        number=int(match.group(2)),
        ops=getattr(record, "graph_op_count", None),
        name=getattr(record, "co_name", None) or "",
        file=getattr(record, "co_filename", None) or "",
        line=getattr(record, "co_firstlineno", None) or 0,
        fail_type=getattr(record, "fail_type", None) or "",
        fail_reason=str(getattr(record, "fail_reason", None) or ""),
    )


def _present(found: Iterable[Attempt]) -> list[Attempt]:
    """Drop records of before a reset: ids start anew there, so one would come twice."""
    kept: dict[str, Attempt] = {}
    for attempt in reversed(list(found)):
        made = attempts_made(attempt.frame)
        if attempt.compile_id in kept or (made is not None and attempt.number >= made):
            break
        kept[attempt.compile_id] = attempt
    return list(reversed(kept.values()))


def attempts_made(frame: int) -> int | None:
    """How many attempts a frame had so far, kept or not; None: this torch does not say."""
    from torch._dynamo import convert_frame

    counter = getattr(convert_frame, "FRAME_COMPILE_COUNTER", None)
    return None if counter is None else int(counter.get(frame, 0))


def frame_of(code: CodeType, compile_ids: Iterable[str], known: list[Attempt]) -> int | None:
    """The frame number of a code object, from its entries or from the records."""
    for text in compile_ids:
        match = _ID.match(text)
        if match:
            return int(match.group(1))
    where = (code.co_name, code.co_filename, code.co_firstlineno)
    frames = {a.frame for a in known if (a.name, a.file, a.line) == where}
    return frames.pop() if len(frames) == 1 else None


def numbers(compile_ids: Iterable[str]) -> set[int]:
    """The second number of each compile id."""
    return {int(match.group(2)) for match in map(_ID.match, compile_ids) if match}
