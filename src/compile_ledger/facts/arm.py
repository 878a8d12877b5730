"""An arm: one run of the workload under one condition, with all its facts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from .agreement import Agreement
from .cache_line import LineReading
from .calls import Call, Counters
from .compile import Compile
from .contract import Stated
from .environment import Capability, Environment
from .opinion import Opinion
from .outside import Operators, OwnCalls
from .place import Place, Raised
from .region import CodeObject, Region
from .timing import Ablation, GuardLookup, SteadyState

ArmStatus = Literal["finished", "stopped", "raised", "killed", "timed_out", "interrupted", "failed"]
"""``stopped``: ended by us after the calls it was asked for, or by the program's own
``os._exit(0)``; then ``why`` says so. ``failed``: our own fault."""

ToolchainStatus = Literal["found", "missing", "unknown"]


@dataclass(frozen=True, slots=True)
class Lost:
    """Evidence that could not be taken: a failure of ours, contained."""

    where: str
    why: str
    count: int = 1


@dataclass(frozen=True, slots=True)
class Header:
    """The first line of a recording."""

    format: str
    version: int
    tool: str
    pid: int
    arm: str = ""
    rank: int | None = None
    started_unix_ns: int = 0
    environment: Environment = field(default_factory=Environment)
    changed: tuple[str, ...] = ()
    """What observing changed in the process: hooks installed, variables set."""
    forked_from: int | None = None
    """The process that this one is a fork of, where that one was recorded."""


@dataclass(frozen=True, slots=True)
class Toolchain:
    """Whether inductor's own lookup finds a C++ compiler here."""

    status: ToolchainStatus
    why: str = ""


@dataclass(frozen=True, slots=True)
class MissedState:
    """A ``load_state_dict`` that returned and loaded nothing for keys that differ in a prefix.

    Seen in eager arms, and kept while no later call has loaded them. The prefix is the
    ``_orig_mod.`` of the module that ``torch.compile`` makes.
    """

    place: Place | None
    keys: int
    given: str = ""
    """One key of the state, as it was given."""
    wanted: str = ""
    """The same one, as the module names it."""


@dataclass(frozen=True, slots=True)
class Costs:
    """What the process spent outside the calls, in CPU nanoseconds of self and children."""

    import_torch: int | None = None
    prewarm: int | None = None
    """Importing the compiler, the ISA probe, the precompiled header: per process or machine."""
    setup: int | None = None
    """Importing the user's file and building the workload."""


@dataclass(frozen=True, slots=True)
class Goodbye:
    """The last line of a recording that ended in order."""

    status: ArmStatus
    at_ns: int = 0
    why: str = ""
    """For a program that we ended: when."""
    calls: int | None = None
    """Outermost region calls of a program that we ended."""
    raised: Raised | None = None
    exit_code: int | None = None
    cpu_ns: int = 0
    children_cpu_ns: int = 0
    peak_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class Arm:
    """Every fact of one arm, as read back from its recording."""

    name: str
    change: str = ""
    """For an experiment: the one thing that differs, in words."""
    status: ArmStatus = "finished"
    why: str = ""
    """For a status that is not ``finished`` or ``stopped``: one line."""
    raised: Raised | None = None
    header: Header | None = None
    capabilities: tuple[Capability, ...] = ()
    regions: tuple[Region, ...] = ()
    code_objects: tuple[CodeObject, ...] = ()
    compiles: tuple[Compile, ...] = ()
    calls: tuple[Call, ...] = ()
    counters: Counters | None = None
    cache_lines: tuple[LineReading, ...] = ()
    """What was in place at the end, one for each code object with entries."""
    agreements: tuple[Agreement, ...] = ()
    steady: tuple[SteadyState, ...] = ()
    guard_lookups: tuple[GuardLookup, ...] = ()
    ablations: tuple[Ablation, ...] = ()
    opinions: tuple[Opinion, ...] = ()
    own_calls: tuple[OwnCalls, ...] = ()
    operators: tuple[Operators, ...] = ()
    """Of sampled steady calls, the earlier first."""
    missed_states: tuple[MissedState, ...] = ()
    toolchain: Toolchain | None = None
    stated: Stated | None = None
    """What the workload states of itself, where the target is one."""
    costs: Costs = field(default_factory=Costs)
    lost: tuple[Lost, ...] = ()
    damage: tuple[Lost, ...] = ()
    """Lines of the recording that could not be read."""
    wall_ns: int = 0
    cpu_ns: int = 0
    """Self and children, the whole process."""
    peak_bytes: int | None = None
    exit_code: int | None = None
    """What the program passed to ``sys.exit``; None when it did not call it."""
    cut: int | None = None
    """Outermost region calls after which we ended it, the program going on; else None."""

    @property
    def ran(self) -> bool:
        """True when the arm's calls can be relied on as far as they go."""
        return self.status in ("finished", "stopped")
