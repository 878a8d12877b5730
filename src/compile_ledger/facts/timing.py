"""Interleaved steady-state samples."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SteadyState:
    """Times of one region's calls, each call given to one side at random.

    ``eager``, ``eager_again`` and ``compiled`` are process CPU nanoseconds of one
    call each; the ``wall`` fields hold the wall nanoseconds of the same calls.
    ``eager`` against ``eager_again`` is the A/A comparison that says how large a
    difference this machine makes of nothing.
    """

    region: int
    design: str
    """``interleaved calls`` or ``interleaved program``: see experiment/steady_state.py."""
    eager: tuple[int, ...] = ()
    eager_again: tuple[int, ...] = ()
    compiled: tuple[int, ...] = ()
    wall_eager: tuple[int, ...] = ()
    wall_eager_again: tuple[int, ...] = ()
    wall_compiled: tuple[int, ...] = ()
    threads: int = 1
    dropped: int = 0
    """Calls left out because a compile happened in them."""
    why: str = ""
    """Set when no sample could be taken."""
