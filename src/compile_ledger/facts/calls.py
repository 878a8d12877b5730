"""Calls of a region and what became of each."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from .place import Place, Raised

Disposition = Literal[
    "compiled",
    "recompiled",
    "reused",
    "refused",
    "fell_back",
    "switched_off",
    "skipped",
    "raised",
]

DISPOSITIONS: tuple[Disposition, ...] = (
    "compiled",
    "recompiled",
    "reused",
    "refused",
    "fell_back",
    "switched_off",
    "skipped",
    "raised",
)
"""Every disposition, in the order in which reports list them."""

WORST_FIRST: tuple[Disposition, ...] = (
    "raised",
    "refused",
    "switched_off",
    "fell_back",
    "recompiled",
    "compiled",
    "skipped",
    "reused",
)
"""A call's disposition is the first of these that any of its frames had."""

SERVED: frozenset[Disposition] = frozenset({"compiled", "recompiled", "reused"})
"""Dispositions of calls that ran compiled code on every frame that asked for it."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call of one region, in an arm that keeps calls apart."""

    region: int
    index: int
    """The region's own count of calls, from 0."""
    disposition: Disposition | None = None
    """None where the arm runs eager by request."""
    wall_ns: int = 0
    cpu_ns: int = 0
    """CPU time of the process, all threads, and of the children that it waited for."""
    between_cpu_ns: int | None = None
    """The same since the end of the call before: a backward pass, and its compile, are there."""
    at_ns: int = 0
    """When the call began, since the recording began."""
    runs: dict[str, int] = field(default_factory=dict)
    """``code object:compile id`` to the number of times that entry ran inside this call."""
    graphs: int | None = None
    """Graph executions inside this call; None: entries were not counted."""
    silent: int | None = None
    """Frames that had entries, matched none, and ran eagerly unannounced; None: unseen."""
    sizes: dict[str, tuple[int, ...]] = field(default_factory=dict)
    """Sizes of the tensors given, by parameter name (``idx``), as guards name them."""
    overlapping: tuple[str, ...] = ()
    """Tensors given that occupy the same memory as another one given, by parameter name."""
    constants: dict[str, str] = field(default_factory=dict)
    """Numbers, strings, None and members of enums given, by parameter name, in words."""
    thread: int = 0
    raised: Raised | None = None
    stance: str = ""
    """The stance that the program had set when the call began; empty: the default one."""
    refused_by: tuple[str, ...] = ()
    """Under ``eager_on_recompile``: for each entry, the guard that refused the call."""


@dataclass(frozen=True, slots=True)
class EntryRuns:
    """How often one cache entry ran up to now."""

    code_object: int
    compile_id: str
    runs: int
    rejections: int | None = None
    """Times its guards refused a call (``fail_count``), where this torch counts them."""


@dataclass(frozen=True, slots=True)
class EagerRuns:
    """How often one code object that a limit refused ran eagerly inside regions since then."""

    code_object: int
    runs: int
    """Every run of its own code, counted by the interpreter, that of the refused call too."""
    silent: int
    """Runs that did not reach Dynamo first, and so had no warning and no fact."""


@dataclass(frozen=True, slots=True)
class RegionCalls:
    """How often one region was called up to now, and its sampled wall time."""

    region: int
    calls: int
    sampled: int = 0
    sampled_ns: int = 0
    longest_ns: int = 0


@dataclass(frozen=True, slots=True)
class StanceUse:
    """One stance that the program set (``torch.compiler.set_stance``), and what ran under it."""

    name: str
    place: Place | None = None
    """The user's line that set it; of a decorated function, where it is decorated."""
    calls: tuple[RegionCalls, ...] = ()
    """Calls of each region that began under it up to now."""
    silent: int | None = None
    """Lookups under it that found no entry and ran eagerly; None: unseen."""
    refused: tuple[tuple[str, ...], ...] = ()
    """Under ``eager_on_recompile``, of calls that were looked at: each entry's refusing guard."""


@dataclass(frozen=True, slots=True)
class Counters:
    """A reading of every counter, written at an interval and at the end."""

    at_ns: int
    regions: tuple[RegionCalls, ...] = ()
    entries: tuple[EntryRuns, ...] = ()
    lookups: int | None = None
    """Guard lookups on code objects with entries, hits and misses; None: unseen."""
    silent: int | None = None
    """Lookups that found no entry, did not reach Dynamo, and ran eagerly; None: unseen."""
    eager: tuple[EagerRuns, ...] = ()
    """Code objects that a limit refused, where the interpreter counts their runs."""
    stances: tuple[StanceUse, ...] = ()
    """Stances that the program set, except the default one."""
    recompile_limit: int | None = None
    """The setting in the thread that read the counters, then."""
    cpu_ns: int = 0
    """CPU time of the process so far."""
    children_cpu_ns: int = 0
    """CPU time of its ended children so far."""
