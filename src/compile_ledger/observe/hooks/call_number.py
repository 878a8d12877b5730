"""Which call of which region is running, asked from inside it.

What the enter hook of a region returns runs after the call, and lies in the runtime's
own frame meanwhile: it tells the number of the call to whoever looks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from compile_ledger.observe.recording.session import peek
from compile_ledger.observe.stack import wrapper_frame

if TYPE_CHECKING:
    from collections.abc import Callable

    from .regions import RegionState

LEAVES = 4096
"""Calls that other threads may begin while a call asks for its number, and not confuse it."""
_OURS = ("compile_ledger.observe.hooks.regions", "compile_ledger.observe.recording.timeline")
_NOTHING = "bit_length"
"""A method of ``int`` without effect, in C: the cheapest thing to run after a call."""

leaves: tuple[Callable[[], Any], ...] = tuple(getattr(n, _NOTHING) for n in range(LEAVES))
"""What runs after an untimed call: the one at its number, modulo :data:`LEAVES`."""


def call_of_stack(
    region_of: Callable[[Any], RegionState | None],
) -> tuple[RegionState | None, int | None]:
    """The region under which the present frame runs, and the number of its call."""
    frame = wrapper_frame()
    if frame is None:
        return None, None
    state = region_of(frame.f_locals.get("self"))
    if state is None:
        return None, None
    ends = (_number(state, end) for end in frame.f_locals.get("cleanups", ()))
    number = next((n for n in ends if n is not None), None)
    return state, None if number is None else number - state.base


def _number(state: RegionState, end: Any) -> int | None:
    """The number of a call, from what our enter hook returned for it."""
    slot = getattr(end, "__self__", None)
    if type(slot) is int and getattr(end, "__name__", "") == _NOTHING:
        latest = peek(state.numbers) - 1
        return latest - (latest - slot) % LEAVES
    given = getattr(end, "__defaults__", None) or ()
    return given[0] if getattr(end, "__module__", "") in _OURS and given else None
