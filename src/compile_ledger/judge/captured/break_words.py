"""Reasons of graph breaks in words: some of the runtime's are names of its own code."""

from __future__ import annotations

import re

from compile_ledger.facts.graph_break import GraphBreak

_INTERNAL = ((re.compile(r"generic_jump\b.*"), "Data-dependent branching (generic_jump)"),)
"""A reason's first line, and the words of newer versions for the same."""


_NAMED = re.compile(r"`([\w.<>]*\w)\.?(?:\(\))?`")
"""What the runtime's explanation puts in quotes first: the function that it met."""


_IN_LOOP = re.compile(r"another graph break occurred: \*+\s+graph break in loop\b")
"""What the runtime adds where it could not go on behind the break."""


def worded(text: str) -> str:
    """The first line of a reason, and what a colon there announces, in words.

    With the function that the runtime's explanation below it names, and with the loop, where
    the runtime says that the break is in one.
    """
    line, _, rest = text.partition("\n")
    told = rest.strip().split("\n", maxsplit=1)[0]
    if line.endswith(":") and told:
        line = f"{line} {told}"
    said = next((words for pattern, words in _INTERNAL if pattern.fullmatch(line)), line)
    found = _NAMED.search(told) if told.startswith("Explanation:") else None
    said += f": {found.group(1)}" if found and found.group(1) not in said else ""
    return said + (" (in a loop: the whole frame is skipped)" if _IN_LOOP.search(text) else "")


def reason_of(found: GraphBreak) -> str:
    """Why a graph broke, in words."""
    return worded(f"{found.reason}\n{found.explanation}")
