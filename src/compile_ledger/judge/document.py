"""The ledger: what the judges say of the facts. The document that ``ledger.json`` holds.

Field names up to ``not_measured`` are relied on by other programs and stay as
they are within a major ``schema_version`` (docs/ledger.md has the history).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from compile_ledger.facts.agreement import Agreement
from compile_ledger.facts.cache_line import LineReading
from compile_ledger.facts.calls import Disposition
from compile_ledger.facts.environment import Capability, Environment
from compile_ledger.facts.place import Place, Raised

from .parts import Cell, Entry, Evidence, FindingCost, Interval, Limit, Line, Off

SCHEMA_VERSION = "1.0"

LevelName = Literal["RUNS", "CORRECT", "CAPTURED", "STABLE", "WORTH_IT"]
LEVELS: tuple[LevelName, ...] = ("RUNS", "CORRECT", "CAPTURED", "STABLE", "WORTH_IT")

Status = Literal["holds", "fails", "not_measured", "not_resolved"]
Severity = Literal["failure", "note"]
Outcome = Literal["holds", "refuted", "not_resolved"]


@dataclass(frozen=True, slots=True)
class CauseRow:
    """One cause of recompiles: the guard in which calls differed from the nearest entry."""

    slug: str
    """The kind of guard, as in ``recompile-shape``."""
    subject: str = ""
    axis: int | None = None
    count: int = 1
    """Recompiles, refused ones included, that it explains."""
    values: tuple[str, ...] = ()
    """The first values that it met, the expected one first."""
    code_object: int | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that a judge says of the facts."""

    id: str
    slug: str
    """The kind, one of judge/slugs.py; documented under an anchor of that name."""
    level: LevelName
    severity: Severity
    sentence: str
    site: Place | None = None
    """The user's line to look at; a library's only where no line of the user's is known."""
    subject: str = ""
    """What the assumption was about: ``idx``, ``self.scale``, ``grad_mode``."""
    axis: int | None = None
    expected: str = ""
    actual: str = ""
    count: int = 1
    cost: FindingCost = field(default_factory=FindingCost)
    evidence: tuple[Evidence, ...] = ()
    region: int | None = None
    code_object: int | None = None
    guarded: Place | None = None
    """The user's line that the failed guard names, where it is not the site."""
    library: Place | None = None
    """The line of a library that the site led to, where what was seen is not in the user's."""
    source: str = ""
    """The text of the site's line; empty where the file is not here, or was written since."""
    cause: str = ""
    """For ``settled``: the kind of its recompiles, a slug; empty where the slug says it."""
    first_call: int | None = None
    """The first call in which it showed, from 0, counted over the regions that share the
    line; None: not known."""
    causes: tuple[CauseRow, ...] = ()
    """Every cause of the recompiles that it speaks of, on each code object by itself."""


@dataclass(frozen=True, slots=True)
class Level:
    """One of the five levels; ``why`` is one sentence for every status."""

    level: LevelName
    status: Status
    why: str
    findings: tuple[str, ...] = ()
    after_failure: bool = False
    """True when an earlier level failed: shown, but not part of the diagnosis."""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The first level that stopped holding, and its cause."""

    level: LevelName
    slug: str
    sentence: str
    subject: str = ""
    axis: int | None = None
    expected: str = ""
    actual: str = ""
    site: Place | None = None
    finding: str = ""


@dataclass(frozen=True, slots=True)
class Unproven:
    """The first level before the diagnosis that lacks evidence."""

    level: LevelName
    why: str
    command: str = ""


@dataclass(frozen=True, slots=True)
class CodeObjectRow:
    """One code object as the ledger shows it, in the arm that decided."""

    id: int
    name: str
    file: str
    line: int
    compiles: int = 0
    entries: int = 0
    graphs: int = 0
    graph_runs: int | None = None
    recompile_reasons: tuple[str, ...] = ()
    limit: Limit | None = None
    off: Off | None = None
    cache_line: tuple[Entry, ...] = ()
    library: bool = False
    attempts: int = 0
    """Compiles that were begun, those that left no entry included."""
    silent: int | None = None
    """Eager runs past a limit that nothing announced; null: not counted by frame."""


@dataclass(frozen=True, slots=True)
class RegionRow:
    """One region as the ledger shows it, in the arm that decided."""

    id: int
    site: Place | None
    target: str
    compile_kwargs: dict[str, str]
    calls: int
    dispositions: dict[str, int]
    code_objects: tuple[int, ...] = ()
    kind: str = "function"
    library: Place | None = None
    """The library's line that called ``torch.compile``, where it is not the user's."""


@dataclass(frozen=True, slots=True)
class BreakCost:
    """The measured cost of a break, per call, with its 95% interval; or why not.

    Calls as they are less calls without the break: negative where it is faster with it.
    """

    cpu_ns: float | None = None
    low_ns: float | None = None
    high_ns: float | None = None
    why: str = "not measured: no arm without the break was run"
    change: str = ""
    """The change that removed it."""
    together: int = 1
    """Breaks of the region that the change removed: the cost is that of all of them."""
    noise: Interval = field(default_factory=Interval)
    """The A/A difference in nanoseconds: calls as they are against the same."""
    unresolved: str = ""
    """Why the cost cannot be told from noise; empty when it can, or was not measured."""
    includes: str = ""
    """What else the change takes away, so that the cost is of that, too."""


@dataclass(frozen=True, slots=True)
class BreakRow:
    """A graph break: place, frequency, cost."""

    file: str
    line: int
    reason: str
    hint_id: str = ""
    per_call: float | None = None
    cost: BreakCost = field(default_factory=BreakCost)
    function: str = ""
    seen: int = 1
    """Times it was traced (not executed)."""
    kind: str = ""
    """What broke the graph, one of judge/captured/break_kinds.py; empty: not told."""
    removal: str = ""
    """The setting that could capture it, or that none does; and the edit that would."""
    edit: str = ""
    """The edit that removes it, as an imperative."""
    user: Place | None = None
    """The user's line that led there, where ``file`` is a library's."""


@dataclass(frozen=True, slots=True)
class OpinionRow:
    """What several instruments say of how one region is captured. The first decides."""

    region: int
    target: str
    here: str
    """Graph runs per call and breaks, as they were recorded."""
    explain: str
    """``torch._dynamo.explain``, or why it did not answer."""
    fullgraph: str
    """``torch.compile(fullgraph=True, backend="eager")``, or what it raised."""
    differs: tuple[str, ...] = ()
    """Where they disagree with what was recorded, and why they can."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What one arm showed of stability: one side of an experiment."""

    arm: str
    compiles: int
    recompiles: int
    refused: int
    fell_back: int
    switched_off: int
    settled: bool | None
    """None: the stream was too short to tell."""
    graph_runs: int | None = None
    entries: int | None = None
    cpu_seconds: float | None = None
    graphs_low: float | None = None
    """Graphs per steady call, the region with fewest; None: not counted."""
    graphs_high: float | None = None
    frames_skipped: int | None = None
    breaks: int | None = None
    """Distinct breaks, by place and reason."""


@dataclass(frozen=True, slots=True)
class ExperimentRow:
    """One change, before and after, and what it says of the diagnosis."""

    name: str
    change: str
    tests: str
    """The diagnosis or mechanism that the change could refute."""
    before: Reading | None
    after: Reading | None
    outcome: Outcome
    sentence: str
    """``diagnosis holds: ...`` or ``diagnosis refuted: ...`` or why not resolved."""
    level: LevelName = "STABLE"
    """The level whose diagnosis it tests."""


@dataclass(frozen=True, slots=True)
class CallRow:
    """One call in an arm: enough for the strip and the cost curve."""

    region: int
    disposition: Disposition | None
    wall_ns: int
    cpu_ns: int
    index: int = 0
    graphs: int | None = None
    """Graphs that ran inside it; None: entries were not counted."""


@dataclass(frozen=True, slots=True)
class ArmRow:
    """One arm: what it was, how it ended, what it cost."""

    name: str
    change: str
    status: str
    why: str
    wall_seconds: float | None
    cpu_seconds: float | None
    regions: int = 0
    calls: tuple[CallRow, ...] = ()
    """In the order in which they began, whatever thread made them."""
    calls_total: int = 0
    """More than ``len(calls)`` when only the first were kept."""
    peak_bytes: int | None = None
    lost: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class GuardCost:
    """What the guard lookup of one region's root takes. CPU nanoseconds."""

    region: int | None = None
    """The region with most calls."""
    entries: int = 0
    before: float = 0.0
    """Entries that a steady call asks in vain, on average."""
    per_call: Interval = field(default_factory=Interval)
    per_refusal: Interval = field(default_factory=Interval)
    """One entry that refuses; where no entry takes a call, all of them do."""
    noise: Interval = field(default_factory=Interval)
    """The A/A difference: the same check against itself."""
    share: float | None = None
    """Of a compiled call; None where regions differ, or it was not measured."""
    why: str = ""


@dataclass(frozen=True, slots=True)
class Cost:
    """What the graph cost and what it saves. CPU seconds unless named otherwise."""

    eager_call: Interval = field(default_factory=Interval)
    """CPU nanoseconds of one steady eager call."""
    compiled_call: Interval = field(default_factory=Interval)
    saving_per_call: Interval = field(default_factory=Interval)
    """CPU nanoseconds that one compiled call saves (negative: it costs)."""
    ratio: Interval = field(default_factory=Interval)
    """Compiled over eager, paired."""
    noise: Interval = field(default_factory=Interval)
    """The A/A ratio: eager over eager in the same loop."""
    wall_ratio: Interval = field(default_factory=Interval)
    design: str = ""
    """What was timed: ``interleaved calls`` of a workload, or ``replayed calls`` of a program
    and what of a training step is among them."""
    compile_seconds: float | None = None
    """CPU seconds spent in calls that compiled, in the arm that decided."""
    compile_arm: str = ""
    cold_seconds: float | None = None
    """What a cold process pays before its steady state, beyond eager."""
    warm_seconds: float | None = None
    cold_process_seconds: float | None = None
    """The part that belongs to the process and the machine, not to the region."""
    warm_process_seconds: float | None = None
    cold_break_even: float | None = None
    """Calls until what the region itself cost in a cold process is paid back; None: never, or
    not measured."""
    warm_break_even: float | None = None
    horizon: int | None = None
    """Calls before a restart; None: not stated, and then not judged."""
    horizon_source: str = ""
    guards: GuardCost = field(default_factory=GuardCost)
    why: str = ""


@dataclass(frozen=True, slots=True)
class Correctness:
    """Agreement with eager over the compared calls."""

    compared: int = 0
    calls: int = 0
    max_abs: float | None = None
    rtol: float = 1e-4
    atol: float = 1e-4
    stated_pass: bool | None = None
    worst_error_compiled: float | None = None
    """rmse against fp64 over rms of fp64, worst leaf."""
    worst_error_eager: float | None = None
    worst_ratio: float | None = None
    gradients: int = 0
    """Gradients that were compared; ``compared`` and the errors above are of the rest."""
    worst_error_gradient: float | None = None
    deterministic: bool | None = None
    """Whether eager agrees with itself bit for bit; None: not measured."""
    arm: str = ""
    not_compared: tuple[str, ...] = ()
    worst: tuple[Agreement, ...] = ()
    why: str = ""


@dataclass(frozen=True, slots=True)
class EnvironmentRow:
    """Where the evidence comes from."""

    environment: Environment = field(default_factory=Environment)
    capabilities: tuple[Capability, ...] = ()
    changed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NotMeasured:
    """One thing the ledger does not know, why, and what would tell."""

    what: str
    why: str
    command: str = ""


@dataclass(frozen=True, slots=True)
class NextStep:
    """What to try next for the level that fails."""

    do: str
    """A setting that was shown to help, or an edit, as an imperative."""
    site: Place | None = None
    """The user's line that it concerns."""
    tested: str = ""
    """``tested: ...`` with what the test showed, or ``not tested: ...`` with why."""


@dataclass(frozen=True, slots=True)
class Ledger:
    """The whole document. ``levels`` always holds the five levels in order."""

    schema_version: str
    tool_version: str
    target: str
    diagnosis: Diagnosis | None
    unproven: Unproven | None
    levels: tuple[Level, ...]
    regions: tuple[RegionRow, ...]
    code_objects: tuple[CodeObjectRow, ...]
    breaks: tuple[BreakRow, ...]
    findings: tuple[Finding, ...]
    experiments: tuple[ExperimentRow, ...]
    arms: tuple[ArmRow, ...]
    cost: Cost
    correctness: Correctness
    environment: EnvironmentRow
    not_measured: tuple[NotMeasured, ...]
    opinions: tuple[OpinionRow, ...] = ()
    """Other instruments, for regions with breaks; they never decide."""
    cache_lines: tuple[LineReading, ...] = ()
    """What was in place at the end of the arm that decided: see docs/cache_line.md."""
    lines: tuple[Line, ...] = ()
    verdict: str = ""
    """The whole result in one sentence."""
    raised: Raised | None = None
    provisional: bool = False
    """True while arms that could change the diagnosis are still to run."""
    interrupted: bool = False
    next_step: NextStep | None = None
    """What to try next; null where no level fails, or nothing is known to help."""
    contradictions: tuple[str, ...] = ()
    """Places of this document that tell one quantity in two ways: see judge/consistency.py."""

    def __str__(self) -> str:
        """The verdict; :mod:`compile_ledger.render` shows the rest."""
        return self.verdict


__all__ = ["Cell", "Entry", "Evidence", "FindingCost", "Interval", "Limit", "Line", "Off"]
