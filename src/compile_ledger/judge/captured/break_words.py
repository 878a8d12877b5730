"""Graph breaks in words: what was met, where Dynamo went on behind it, what Python runs."""

from __future__ import annotations

import re

from compile_ledger.facts.graph_break import GraphBreak

_INTERNAL = ((re.compile(r"generic_jump\b.*"), "Data-dependent branching (generic_jump)"),)
"""A reason's first line, and the words of newer versions for the same."""

_NAMED = re.compile(r"`(?:<unknown module>\.)?([\w.<>]*\w)\.?(?:\(\))?`")
"""What the runtime's explanation puts in quotes first: the function that it met."""
_OBJECT = re.compile(r"<(?:bound )?(?:function|method) ([\w.<>]*\w>?) (?:at|of) ")
"""The same where it is the repr of a function."""
_CONTEXT = re.compile(
    r"Developer debug context: (?:(RNN|GRU|LSTM)\(|method: <\w*(Logger) .*?>(\.\w+))"
)
"""What it names in its last lines only: a layer, or a method of a logger's."""
_ASIDE = re.compile(r"\s*\((?:unhinted|Size-like symbols): [^)]*\)+\.?")
"""What the runtime adds to a condition on a size that it does not know."""

_IN_LOOP = re.compile(r"another graph break occurred: \*+\s+graph break in loop\b")
"""What the runtime adds where it could not go on behind the break."""
_BLOCKS = {
    "loop": "in a loop",
    "with": "in a with block",
    "try": "in a try block",
}


def worded(text: str) -> str:
    """The first line of a reason, and what a colon there announces, in words.

    With the function that the runtime's explanation below it names.
    """
    line, _, rest = text.partition("\n")
    told = rest.strip().split("\n", maxsplit=1)[0]
    if line.endswith(":") and told:
        line = f"{line} {told}"
    said = next((words for pattern, words in _INTERNAL if pattern.fullmatch(line)), line)
    said = _ASIDE.sub("", said)
    found = None
    if told.startswith("Explanation:"):
        found = _OBJECT.search(told) or _NAMED.search(told)
    named = "".join(filter(None, found.groups())) if found else ""
    context = _CONTEXT.search(rest)
    named = "".join(filter(None, context.groups())) if context else named
    return said + (f": {named}" if named and (context or named not in said) else "")


def reason_of(found: GraphBreak) -> str:
    """Why a graph broke, in words, and what Python runs because of it."""
    return worded(f"{found.reason}\n{found.explanation}") + _after(found)


def _after(found: GraphBreak) -> str:
    """What followed, where it is more than the one line: `` (in a loop: ...)``."""
    block = "loop" if _IN_LOOP.search(found.explanation) else found.block
    left = found.left or ("frame" if block == "loop" else "")
    told = [_BLOCKS[block]] if block in _BLOCKS and left else []
    if found.operator:
        told.append(f"in a call of {found.operator}")
    runs = {"frame": "the whole frame is skipped", "rest": "the rest of the frame is not compiled"}
    after = runs.get(left, "what it calls is left out of the graph" if found.operator else "")
    if left == "rest" and found.rest_from:
        after += f", from line {found.rest_from} on"
    return f" ({': '.join(filter(None, [' '.join(told), after]))})" if told or after else ""
