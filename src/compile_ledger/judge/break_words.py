"""Reasons of graph breaks in words: some of the runtime's are names of its own code."""

from __future__ import annotations

import re

_INTERNAL = ((re.compile(r"generic_jump\b.*"), "Data-dependent branching (generic_jump)"),)
"""A reason's first line, and the words of newer versions for the same."""


def worded(reason: str) -> str:
    """The first line of a reason, in words where it is a name of the runtime's code."""
    line = reason.split("\n", maxsplit=1)[0]
    return next((words for pattern, words in _INTERNAL if pattern.fullmatch(line)), line)
