"""What calls brought: sizes and constants by parameter, how often each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from compile_ledger.facts.calls import Call
from compile_ledger.facts.place import Place

from .cells import absent, cell
from .choose import RECORDED
from .document import Line
from .instruments import instrument
from .view import View
from .words import count

MOST_REGIONS = 4
_MOST_VALUES = 6
_MOST_NAMES = 6
_MOST_KEPT = 1000
"""Distinct values of one parameter that are told apart."""
_UNSEEN = (
    "these facts keep no call's arguments: an audit of the program does, a recording's "
    "cache lines show what was compiled"
)


def inputs_line(view: View | None) -> Line:
    """Which sizes and values each region saw; the regions with most calls."""
    if view is None or not any(view.calls.values()):
        known = view is not None and view.arm.name != RECORDED
        return Line("inputs", (absent("inputs", "no region was called" if known else _UNSEEN),))
    ranked = sorted(_by_line(view).items(), key=lambda pair: -len(pair[1]))
    tool = instrument("arguments of calls", view.arm)
    found = tuple(
        cell(
            "inputs" if len(ranked) == 1 else target,
            _clauses(calls),
            tool,
            "its calls brought no tensor and no constant by name",
        )
        for (target, _site), calls in ranked[:MOST_REGIONS]
    )
    more = len(ranked) - MOST_REGIONS
    rest = (cell("more", f"{count(more, 'region')} with fewer calls", tool),) if more > 0 else ()
    return Line("inputs", found + rest)


def _by_line(view: View) -> dict[tuple[str, Place | None], tuple[Call, ...]]:
    """The calls by region; those that one line makes of one target again and again as one."""
    found: dict[tuple[str, Place | None], tuple[Call, ...]] = {}
    for region, calls in view.calls.items():
        key = view.target(region), view.site(region)
        found[key] = (*found.get(key, ()), *calls)
    return found


def _clauses(calls: Sequence[Call]) -> str | None:
    """``idx axis 1: 14 lengths in 17 calls: 19 x2, 60, ...; always: x 8x64, flag True``."""
    parts: list[str] = []
    always: list[str] = []
    tensors = {name for call in calls for name in call.sizes}
    tensors -= {name for call in calls for name in call.constants}
    for name, values in _by_name(calls).items():
        if len(values) == len(calls) and len(set(values)) == 1:
            always.append(f"{name} {values[0]}")
        else:
            parts.extend(_varying(name, values, len(calls), sized=name in tensors))
    shown = parts[:_MOST_NAMES]
    if len(parts) > _MOST_NAMES:
        shown.append(f"and {len(parts) - _MOST_NAMES} more that vary")
    if always:
        more = f", and {len(always) - _MOST_NAMES} more" if len(always) > _MOST_NAMES else ""
        shown.append(f"always: {', '.join(always[:_MOST_NAMES])}{more}")
    return "; ".join(shown) or None


def _by_name(calls: Sequence[Call]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for call in calls:
        for name, value in brought(call):
            found.setdefault(name, []).append(value)
    return found


def brought(call: Call) -> Iterator[tuple[str, str]]:
    """What a call brought, by parameter: ``("x", "8x64")``, ``("flag", "True")``."""
    for name, size in call.sizes.items():
        yield name, "x".join(map(str, size)) or "0-d"
    yield from call.constants.items()


def _varying(name: str, values: list[str], calls: int, *, sized: bool) -> Iterator[str]:
    shapes = [value.split("x") for value in values]
    here = (
        f"{len(values)} of {count(calls, 'call')}" if len(values) < calls else count(calls, "call")
    )
    if sized and len({len(shape) for shape in shapes}) == 1 and len(set(values)) > 1:
        for axis, lengths in enumerate(zip(*shapes, strict=True)):
            if len(set(lengths)) > 1:
                yield f"{name} axis {axis}: {_told(lengths, 'length')} in {here}: {_often(lengths)}"
        return
    if len(set(values)) == 1:
        yield f"{name} {values[0]} in {here}"
        return
    yield f"{name}: {_told(values, 'shape' if sized else 'value')} in {here}: {_often(values)}"


def _told(values: Sequence[str], noun: str) -> str:
    return count(len(set(values)), noun)


def _often(values: Sequence[str]) -> str:
    """``19 x2, 60 x2, 63, ... 9 more``: the most frequent first, those in order of sight."""
    ranked = Counter(values).most_common(_MOST_KEPT)
    said = ", ".join(v if n == 1 else f"{v} x{n}" for v, n in ranked[:_MOST_VALUES])
    more = len(set(values)) - _MOST_VALUES
    return f"{said}, ... {more} more" if more > 0 else said


def varying(calls: Sequence[Call]) -> frozenset[str]:
    """The parameters that not every call brought alike."""
    named = _by_name(calls)
    return frozenset(n for n, v in named.items() if len(v) < len(calls) or len(set(v)) > 1)
