"""Interleaved steady-state samples, and what the guard lookup alone takes."""

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
    """``interleaved calls`` of a workload, or what of a program was replayed: see
    experiment/replay.py."""
    share: float = 1.0
    """The share of the region's calls that were like these: in one mode of grad, autocast
    and training."""
    eager: tuple[int, ...] = ()
    eager_again: tuple[int, ...] = ()
    compiled: tuple[int, ...] = ()
    wall_eager: tuple[int, ...] = ()
    wall_eager_again: tuple[int, ...] = ()
    wall_compiled: tuple[int, ...] = ()
    threads: int = 1
    dropped: int = 0
    """Calls left out because a compile happened in them."""
    left_out: tuple[str, ...] = ()
    """Why some of the last calls were not timed, one text a call."""
    why: str = ""
    """Set when no sample could be taken."""


@dataclass(frozen=True, slots=True)
class GuardLookup:
    """Times of one region's guard checks alone, at the line that a run ended with.

    Samples are process CPU nanoseconds of one check, each the mean of a batch. The four
    sides of one index were timed next to each other, in random order.
    """

    region: int
    entries: int = 0
    """Entries of the root's line; frames called inside are not asked."""
    before: float = 0.0
    """Entries that are asked in vain by a call, on average over the last calls in turn."""
    taken: float = 0.0
    """The share of these calls that an entry takes."""
    nothing: tuple[float, ...] = ()
    """A check without a guard: what asking takes by itself."""
    took: tuple[float, ...] = ()
    """A check of the entry that takes the call; empty where none does."""
    refused: tuple[float, ...] = ()
    """A check of an entry that refuses the call; empty where none does."""
    again: tuple[float, ...] = ()
    """The check of ``took`` (else of ``refused``) once more: the A/A side."""
    why: str = ""
    """Set when no sample could be taken."""


@dataclass(frozen=True, slots=True)
class Ablation:
    """Times of one region's calls as they are, and without what one change removes.

    Process CPU nanoseconds of one call each; the three of one index were timed next to
    each other, in random order. ``broken`` against ``broken_again`` is the A/A comparison.
    """

    region: int
    experiment: str = ""
    """The name of the experiment whose change this is."""
    change: str = ""
    graphs: float | None = None
    """Graphs per call as it is; None: entry runs were not counted."""
    graphs_without: float | None = None
    """Graphs per call with the change."""
    broken: tuple[int, ...] = ()
    broken_again: tuple[int, ...] = ()
    without: tuple[int, ...] = ()
    wall_broken: tuple[int, ...] = ()
    wall_without: tuple[int, ...] = ()
    threads: int = 1
    dropped: int = 0
    """Rounds left out because a compile happened in them."""
    why: str = ""
    """Set when no sample could be taken."""
