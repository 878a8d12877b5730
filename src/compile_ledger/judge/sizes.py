"""The sizes that calls brought, where the arm kept them: also those no reason names."""

from __future__ import annotations

import re

from .causes import Cause, values_seen
from .view import View
from .words import count

_KEYWORD = re.compile(r"kwargs\['(\w+)'\]$")


def values_brought(view: View, found: Cause, region: int | None, unseen: int) -> str:
    """``12 distinct lengths`` from the calls' own sizes, else what the reasons prove."""
    lengths = _lengths(view, found, region)
    if lengths is None or len(lengths) < found.distinct:
        return values_seen(found, unseen)
    return count(len(lengths), "distinct length")


def _lengths(view: View, found: Cause, region: int | None) -> set[int] | None:
    """Distinct sizes of the cause's axis over a region's calls; None: not in the facts."""
    axis = found.key.axis
    if found.key.kind != "size" or axis is None or region is None:
        return None
    name = _parameter(found.key.subject)
    sizes = [call.sizes.get(name) for call in view.calls.get(region, ())]
    known = [size[axis] for size in sizes if size is not None and len(size) > axis]
    return set(known) if known and len(known) == len(sizes) else None


def _parameter(subject: str) -> str:
    """The parameter that a guard's subject stands for: ``kwargs['ids']`` is ``ids``."""
    match = _KEYWORD.match(subject)
    return match.group(1) if match else subject
