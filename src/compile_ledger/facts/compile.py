"""A frame evaluation that reached Dynamo because no cache entry took the call."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from .graph_break import GraphBreak
from .place import Place, Raised
from .what_if import EntryAnswer

MissOutcome = Literal["compiled", "recompiled", "refused", "switched_off", "skipped", "raised"]


@dataclass(frozen=True, slots=True)
class Symbol:
    """A symbol that the compiler introduced for a size or a Python number."""

    name: str
    source: str
    value: str
    """The value that stood there when the symbol was made (its hint)."""

    @property
    def is_float(self) -> bool:
        """True for a Python float that became symbolic (torch names these ``zf``)."""
        return self.name.startswith("zf")


@dataclass(frozen=True, slots=True)
class Phases:
    """Where one compile spent its time, in nanoseconds; None: this torch does not say."""

    total: int | None = None
    dynamo: int | None = None
    aot: int | None = None
    backend: int | None = None
    inductor: int | None = None
    code_generation: int | None = None


@dataclass(frozen=True, slots=True)
class Compile:
    """One cache miss on one code object, with everything seen while it was handled."""

    code_object: int
    outcome: MissOutcome
    compile_id: str = ""
    """torch's compile id, ``0/1``; empty when the attempt never got one."""
    region: int | None = None
    call: int | None = None
    """The index of the region's call during which this happened, from 0."""
    entries_before: int = 0
    reasons: tuple[str, ...] = ()
    """One text for each entry that refused the call, as the runtime words it."""
    answers: tuple[EntryAnswer, ...] = ()
    """Every guard, with both values, in which the call differed from each entry that was
    asked, in the order of the lookup; empty: none was asked. Some of many entries are not."""
    limit: str = ""
    """The configuration name of the limit that was hit, e.g. ``recompile_limit``."""
    limit_value: int | None = None
    why: str = ""
    """Why the frame was skipped or switched off, in the runtime's words."""
    raised: Raised | None = None
    breaks: tuple[GraphBreak, ...] = ()
    symbols: tuple[Symbol, ...] = ()
    made_dynamic: tuple[str, ...] = ()
    """Sources that automatic dynamic shapes decided to make symbolic, as ``x[1]``."""
    graph_ops: int | None = None
    """Operations in the captured graph; None: no record, 0: no graph."""
    calls_graph: bool | None = None
    """Whether the entry's code calls a graph; None: no entry, or its code was not seen."""
    guards: int | None = None
    started_ns: int = 0
    """Since the recording began."""
    wall_ns: int = 0
    cpu_ns: int | None = None
    phases: Phases = field(default_factory=Phases)
    caches: dict[str, str] = field(default_factory=dict)
    """Disk caches asked: name to ``hit``, ``miss`` or ``bypass``."""
    restarts: tuple[str, ...] = ()
    thread: int = 0
    stance: str = ""
    """The stance of the program's own that refused it, ``fail_on_recompile``; else empty."""
    suppressed: bool = False
    """The compile raised, and ``torch._dynamo.config.suppress_errors`` made it eager instead."""
    inherited: bool = False
    """The entry was there when this recording began (a fork, a restart): no event of it."""
    caller: Place | None = None
    """The user's line that was running: the one that called the region, or a frame in it."""

    @property
    def kept(self) -> bool:
        """True when the attempt left a cache entry."""
        return self.outcome in ("compiled", "recompiled")

    @property
    def hit_limit(self) -> bool:
        """True when a limit refused the attempt: eagerly, or with ``fullgraph`` by raising."""
        return self.outcome == "refused" or (self.outcome == "raised" and bool(self.limit))

    @property
    def has_graph(self) -> bool:
        """True when the entry holds a graph with at least one operation.

        Where no record was made (a compile inside a compile), its code tells.
        """
        told = self.calls_graph if self.graph_ops is None else self.graph_ops
        return self.kept and bool(told)
