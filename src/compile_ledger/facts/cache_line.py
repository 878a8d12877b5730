"""A cache line: the entries of the code objects of one region, as they stand now."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from .guard import Guard
from .place import Place

FORMAT = "compile-ledger-cache-line"
VERSION = 1

LineState = Literal["on", "off", "run-only", "unknown"]
"""``off``: skipped for good. ``run-only``: a limit was hit, entries still serve."""

Role = Literal["root", "resume", "called"]


@dataclass(frozen=True, slots=True)
class Count:
    """A number that an instrument counted, or why there is none."""

    value: int | None = None
    why: str = ""
    """Set exactly when ``value`` is None."""


@dataclass(frozen=True, slots=True)
class Budget:
    """How many more compiles a code object may have before a limit refuses one."""

    left: int | None
    limit: str = ""
    """The limit that binds first, by its configuration name."""
    limit_value: int | None = None
    why: str = ""
    """When ``left`` is None: what this torch does not say."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One cache entry: what it assumes and what it did."""

    compile_id: str
    graph_ops: Count = Count()
    runs: Count = Count()
    rejections: Count = Count()
    backend: str = ""
    isolate_id: int = -1
    """The bucket of ``isolate_recompiles``; -1: the one that regions share."""
    valid: bool = True
    invalid_why: str = ""
    guards: tuple[Guard, ...] = ()
    """In a line that was folded: those that not every entry has."""
    folded: int = 0
    """Guards of its own that were counted and not kept."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of the code object's function, enough to bind a call offline."""

    name: str
    kind: int
    """The number of ``inspect.Parameter.kind``."""
    default: str | None = None
    """A literal, as ``repr``; empty: a default that is no literal; None: required."""
    given: bool = False
    """True for what the region itself supplies: ``self``, arguments of a partial."""


@dataclass(frozen=True, slots=True)
class CodeLine:
    """The cache line of one code object."""

    name: str
    file: str
    line: int
    role: Role = "root"
    entries: tuple[Entry, ...] = ()
    """In the order in which a call asks them."""
    state: LineState = "on"
    since: str = ""
    """The compile id of the attempt that changed the state."""
    state_why: str = ""
    budget: Budget = Budget(None, why="not asked")
    parameters: tuple[Parameter, ...] = ()
    common: tuple[Guard, ...] = ()
    """In a line that was folded: guards that every valid entry has, written once."""
    folded: int = 0
    """Guards that every valid entry has, counted and not kept."""
    more: int = 0
    """Entries, the last to be asked, that were counted and not kept."""

    @property
    def place(self) -> Place:
        """Where the code object is defined."""
        return Place(self.file, self.line, self.name)

    @property
    def invalid(self) -> int:
        """Entries whose object is gone; they count against the limits all the same."""
        return sum(not entry.valid for entry in self.entries)

    def guards_of(self, entry: Entry) -> tuple[Guard, ...]:
        """Every guard that was kept of one of its entries."""
        return (*entry.guards, *self.common) if entry.valid else ()


@dataclass(frozen=True, slots=True)
class LineReading:
    """The folded cache line of one code object at the end of a run."""

    code_object: int
    line: CodeLine
    target: str = ""
    """What the region that enters it compiled, by its qualified name."""
    regions: tuple[int, ...] = ()
    """Regions that enter it first, else those in whose calls its entries were made."""
    torch: str = ""


@dataclass(frozen=True, slots=True)
class CacheLine:
    """The cache lines of one region: its root first, then the frames it enters."""

    target: str
    """The qualified name of what was compiled."""
    lines: tuple[CodeLine, ...]
    torch: str = ""
    notes: tuple[str, ...] = ()

    @property
    def root(self) -> CodeLine:
        """The code object that a call of the region enters first."""
        return self.lines[0]

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON; :func:`from_dict` reads it back."""
        return {"format": FORMAT, "version": VERSION, **asdict(self)}


def from_dict(data: Any) -> CacheLine:
    """Read what :meth:`CacheLine.to_dict` gave. Raises ``ValueError`` for anything else."""
    import msgspec

    if not isinstance(data, dict) or data.get("format") != FORMAT:
        msg = f"not a saved cache line: its format is not {FORMAT}"
        raise ValueError(msg)
    try:
        found: CacheLine = msgspec.convert(data, CacheLine)
    except (msgspec.ValidationError, RecursionError) as error:
        msg = f"not a saved cache line: {error}"
        raise ValueError(msg) from error
    if not found.lines:
        msg = "a saved cache line without a code object"
        raise ValueError(msg)
    return found
