"""The entry that comes nearest to a call: the one with fewest differing assumptions."""

from __future__ import annotations

from collections.abc import Sequence

from .what_if import EntryAnswer


def nearest(answers: Sequence[EntryAnswer]) -> str:
    """Its compile id; of equals the one that is asked first; empty: there is none."""
    alive = [
        answer for answer in answers if not any(r.kind == "INVALIDATED" for r in answer.refusals)
    ]
    best = min(alive, key=assumptions, default=None)
    return "" if best is None else best.compile_id


def assumptions(answer: EntryAnswer) -> int:
    """How many different things a call would have to change for this entry.

    A stride that follows from a size that differs is not a second thing, nor is the
    dispatch key set of another tensor type.
    """
    differing = {(refusal.source, refusal.aspect.partition("[")[0]) for refusal in answer.refusals}
    sized = {source for source, aspect in differing if aspect == "size"}
    return sum(not (aspect == "stride" and source in sized) for source, aspect in differing)
