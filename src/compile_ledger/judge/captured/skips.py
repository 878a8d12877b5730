"""Why Dynamo left a frame: what is lost by it, and what is not."""

from __future__ import annotations

from compile_ledger.facts.compile import Compile

_EMPTY = ("No ops traced", "no tensor operation")
"""Texts of a frame in which there was nothing to compile."""
_BY_RULE = ("skipfiles", "torch.compiler.disable", "_dynamo.disable")
"""Texts of a frame that a rule, or the user, keeps from being compiled."""
EMPTY_WORDS = "it held no tensor operation"


def was_empty(event: Compile) -> bool:
    """True when the frame held no tensor operation, as far as its trace went."""
    said = [event.why, *(found.reason for found in event.breaks)]
    if any(word in text for text in said for word in _EMPTY):
        return True
    return not event.breaks and event.graph_ops == 0


def nothing_lost(event: Compile) -> bool:
    """True when leaving the frame to Python loses no graph."""
    if was_empty(event) or any(word in event.why for word in _BY_RULE):
        return True
    return not event.breaks and not event.why and event.raised is None
