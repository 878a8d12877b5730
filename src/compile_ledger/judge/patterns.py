"""Failures that many programs share, told by the values of calls, each with its own edit."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise

from .document import Finding
from .view import View

_PADDED = ("input_ids", "attention_mask", "token_type_ids", "position_ids", "decoder_input_ids")
"""What tokenizers of transformers and their collators pad, by parameter name."""
_CACHES = ("past_key_value", "past_key_values", "cache", "layer_past")
_WRAPPED = "_orig_mod."
"""The prefix that an OptimizedModule puts before each key of its state."""
_OWN_BACKEND = re.compile(r"in the backend stage \((.+?); backend=")
DOUBLE_BACKWARD = "a backward through the backward of compiled code"
"""How a finding says that torch differentiates no compiled backward pass."""
_LEAST = 3
"""Calls in a row that show how a size grows."""


def pattern_edit(view: View | None, finding: Finding) -> str:
    """The edit for a known pattern; empty where a finding fits none."""
    if _WRAPPED in finding.sentence or any(_WRAPPED in e.text for e in finding.evidence):
        return (
            "save the state of the module itself (compiled._orig_mod.state_dict()), "
            "or compile in place with model.compile(), which keeps its keys"
        )
    if finding.slug == "compiled-raises":
        return _of_stages(finding)
    if "recompile-shape" in (finding.slug, finding.cause):
        return _of_sizes(view, finding)
    return ""


def _of_stages(finding: Finding) -> str:
    if DOUBLE_BACKWARD in finding.sentence:
        return (
            "call the module itself, not the compiled one, in the pass whose gradient is "
            "differentiated again (create_graph=True)"
        )
    own = _OWN_BACKEND.search(finding.sentence)
    if own is None or own.group(1) == "inductor":
        return ""
    return (
        f"let backend={own.group(1)!r} return the graph's own forward (gm.forward) for what it "
        "cannot compile, or repair it"
    )


def _of_sizes(view: View | None, finding: Finding) -> str:
    sizes = _sizes(view, finding)
    if finding.axis == 0 and _ragged(sizes):
        return "set drop_last=True in the data loader, or pad the last batch to the full size"
    if _grows(sizes) or any(name in finding.subject for name in _CACHES):
        return (
            f"allocate {finding.subject or 'it'} once at its full length (a static cache), "
            "or mark the axis with torch._dynamo.mark_dynamic"
        )
    if any(name in finding.subject for name in _PADDED):
        return "pad to few lengths: pad_to_multiple_of in the tokenizer's or collator's call"
    return ""


def _sizes(view: View | None, finding: Finding) -> list[int]:
    """The size at the finding's axis in each call, in order; empty where calls were not kept."""
    if view is None or finding.region is None or finding.axis is None:
        return []
    shapes = (call.sizes.get(finding.subject, ()) for call in view.calls.get(finding.region, ()))
    return [shape[finding.axis] for shape in shapes if len(shape) > finding.axis]


def _ragged(sizes: list[int]) -> bool:
    """One usual size, and now and then a smaller one that no other follows: an epoch's end."""
    usual = Counter(sizes).most_common(1)[0][0] if sizes else 0
    others = [n for n, size in enumerate(sizes) if size != usual]
    alone = all(n + 1 == len(sizes) or sizes[n + 1] == usual for n in others)
    return bool(others) and alone and all(sizes[n] < usual for n in others) and others[0] > 0


def _grows(sizes: list[int]) -> bool:
    """True when the size grows by one in each of several calls in a row, as a cache's does."""
    steps = [after - before for before, after in pairwise(sizes)]
    row = "".join("+" if step == 1 else "." for step in steps)
    return "+" * _LEAST in row
