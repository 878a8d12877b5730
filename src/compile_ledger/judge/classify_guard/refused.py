"""A guard that was asked at the miss, as a failure with both values."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from compile_ledger.facts.guard import Refusal
from compile_ledger.facts.nearest import nearest
from compile_ledger.facts.what_if import EntryAnswer

from . import classify_guard
from .clean import plain
from .failure import GuardFailure

_AXIS = re.compile(r"(size|stride)\[(\d+)\]$")
_OF_TENSORS = {
    "rank": "rank",
    "dtype": "dtype",
    "device index": "device",
    "requires_grad": "requires-grad",
    "dispatch keys": "dispatch-keys",
    "tensor": "tensor-type",
}
_NO_MORE = "no more"


def nearest_failures(
    answers: Sequence[EntryAnswer], told: Sequence[GuardFailure]
) -> tuple[GuardFailure, ...]:
    """All in which a call differs from the entry nearest to it; empty: not known.

    ``told`` are the runtime's own texts, one an entry: what it names itself comes first.
    """
    if any(answer.accepts for answer in answers):
        return ()
    name = nearest(answers)
    found = next((failures_with(one) for one in answers if one.compile_id == name), ())
    first = {(one.kind, one.subject, one.axis) for one in told if one.entry == name}
    return tuple(sorted(found, key=lambda one: (one.kind, one.subject, one.axis) not in first))


def failures_with(answer: EntryAnswer) -> tuple[GuardFailure, ...]:
    """All in which a call differs from one entry."""
    left = _without_echoes(answer.refusals)
    return tuple(failure_of(one, answer.compile_id) for one in left)


def _without_echoes(refusals: Sequence[Refusal]) -> Iterable[Refusal]:
    """Without what follows from another: strides from sizes, all else from a type."""
    sized = {one.source for one in refusals if one.aspect.startswith("size[")}
    typed = {one.source for one in refusals if one.aspect == "type"}
    for one in refusals:
        follows = one.aspect.startswith("stride[") and one.source in sized
        if not follows and (one.aspect == "type" or one.source not in typed):
            yield one


def failure_of(one: Refusal, entry: str) -> GuardFailure:
    """One refusal in the words of a guard's text; its kind is that of the text."""
    told = classify_guard(one.text or one.expected)
    base = replace(told, entry=entry, user_line=one.place, hint=one.hint or told.hint)
    expected, actual, subject = _short(one.expected), _short(one.actual), plain(one.source)
    axis = _AXIS.match(one.aspect)
    kind = axis[1] if axis else _kind(one, told)
    if kind in ("relation", "aliasing") and kind == told.kind:
        return base
    if kind == "dispatch-keys":
        expected, actual = _keys(expected, actual), _keys(actual, expected)
    if kind == "global-state":
        subject = one.aspect.replace("autocast_state.", "autocast ")
        expected, actual = _apart(expected, actual)
    elif kind == told.kind:
        subject = told.subject
    return replace(
        base,
        kind=kind,
        subject=subject or told.subject,
        axis=int(axis[2]) if axis else None,
        expected=expected or told.expected,
        actual=actual or told.actual,
    )


def _kind(one: Refusal, base: GuardFailure) -> str:
    if one.aspect in _OF_TENSORS:
        return _OF_TENSORS[one.aspect]
    if one.aspect == "presence":
        return "access"
    if one.aspect == "identity" and one.expected == "distinct tensors":
        return "aliasing"
    return "tensor-type" if one.aspect == "type" and base.kind == "other" else base.kind


def _keys(mine: str, other: str) -> str:
    """The keys that one side has beside the other's: ``with AutogradCPU``."""
    return f"without {other}" if mine == _NO_MORE else f"with {mine}"


def _apart(expected: str, actual: str) -> tuple[str, str]:
    """Of two lists (a state of each device) what differs."""
    lists = [one.strip("[]").split(", ") for one in (expected, actual) if one.startswith("[")]
    if len(lists) < 2 or len(lists[0]) != len(lists[1]):  # noqa: PLR2004  not two lists
        return expected, actual
    pairs = [pair for pair in zip(*lists, strict=True) if pair[0] != pair[1]]
    mine, theirs = zip(*pairs, strict=True) if pairs else ((expected,), (actual,))
    return ", ".join(dict.fromkeys(mine)), ", ".join(dict.fromkeys(theirs))


def _short(value: str) -> str:
    return plain(value).removeprefix("torch.")
