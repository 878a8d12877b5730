"""Reasons of graph breaks in words: some of the runtime's are names of its own code."""

from __future__ import annotations

import re

_INTERNAL = ((re.compile(r"generic_jump\b.*"), "Data-dependent branching (generic_jump)"),)
"""A reason's first line, and the words of newer versions for the same."""


def worded(reason: str) -> str:
    """The first line of a reason, and what a colon there announces, in words."""
    line, *rest = reason.split("\n", maxsplit=2)
    if line.endswith(":") and rest:
        line = f"{line} {rest[0]}"
    return next((words for pattern, words in _INTERNAL if pattern.fullmatch(line)), line)
