"""What one recorder knows: its clock, its sink, and the objects that it numbers."""

from __future__ import annotations

import dataclasses
import itertools
import os
import re
import sys
import sysconfig
import threading
import time
import weakref
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from compile_ledger.facts.region import CodeObject, Region

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType

    from compile_ledger.facts.cache_line import Entry
    from compile_ledger.facts.compile import Compile
    from compile_ledger.facts.place import Place
    from compile_ledger.observe.hooks.eager_runs import RunWatch
    from compile_ledger.observe.hooks.stances import Stances

    from .sink import Sink

MANY = 2**62
"""The length of a counting iterator: longer than any program runs."""

RESUME = re.compile(r"(?:torch_dynamo_resume_in_|<resume in )(.+?)(?:_at_\d+|>)$")
"""How torch names resume functions: after the function that they continue."""
_T = TypeVar("_T")


def counter() -> itertools.repeat[None]:
    """An iterator whose ``__next__`` counts, in C: see :func:`counted`."""
    return itertools.repeat(None, MANY)


def counted(iterator: itertools.repeat[Any]) -> int:
    """How often ``__next__`` of a :func:`counter` was called."""
    return MANY - iterator.__length_hint__()


def peek(numbers: itertools.count[int]) -> int:
    """The number that ``numbers`` gives next, without taking it."""
    return int(repr(numbers)[len("count(") : -1])


MOST_READ = 20_000
"""Guards read of all entries of a process, at some five microseconds each."""


class Death(NamedTuple):
    """An entry when an object that it guards was freed, and how often it had been asked."""

    calls: int
    """Calls until then of the regions that use its code object."""
    entry: Entry


class EntryState:
    """One compiled entry while it can still run."""

    __slots__ = (
        "base",
        "calls_graph",
        "code_object",
        "compile_id",
        "died",
        "fact",
        "graph_ops",
        "has_graph",
        "inherited",
        "left",
        "new_code",
        "watched",
    )

    def __init__(self, code_object: int, compile_id: str) -> None:
        self.code_object = code_object
        self.compile_id = compile_id
        self.graph_ops: int | None = None
        self.calls_graph = False
        """Whether its code calls a graph."""
        self.has_graph = False
        """Whether a run of it runs a graph with at least one operation."""
        self.left = counter()
        self.base = 0
        """Runs before this recording began: in the parent of a fork, or before a restart."""
        self.inherited = False
        """Whether it was there when this recording began."""
        self.fact: Compile | None = None
        """The compile that made it."""
        self.new_code: weakref.ref[CodeType] | None = None
        self.died: Death | None = None
        """What it was until the runtime dropped its guards; None: they are there."""
        self.watched = False
        """Whether the interpreter counts it, because it has no counting prologue."""

    def note_ops(self, ops: int | None) -> None:
        """What the runtime's record says of the graph; None: it made no record."""
        self.graph_ops = ops
        self.has_graph = self.calls_graph if ops is None else bool(ops)

    @property
    def runs(self) -> int:
        """Runs of the entry in this recording."""
        return counted(self.left) - self.base


class Stop(NamedTuple):
    """What ended compiling of a code object: ``limit`` or ``off``, by which attempt, why."""

    state: str
    since: str
    why: str
    limit: int | None = None
    """The value of the limit that was hit, in the thread that hit it."""


class CodeState:
    """One code object: its fact, and whether Dynamo still looks at it."""

    __slots__ = ("code", "fact", "stopped", "told")

    def __init__(self, fact: CodeObject, code: CodeType) -> None:
        self.fact = fact
        self.code = weakref.ref(code)
        self.stopped: dict[int, Stop] = {}
        """Why Dynamo makes no more entries, by bucket of ``isolate_recompiles`` (-1: shared)."""
        self.told = False
        """Whether its fact was written."""

    def state_in(self, bucket: int) -> str:
        """``on``, ``off`` (skipped for good) or ``limit`` (runs what it has)."""
        found = self.stopped.get(bucket)
        return "on" if found is None else found.state


class Session:
    """The state of one recorder in one process."""

    def __init__(self, sink: Sink) -> None:
        """Start the clock; nothing is hooked yet."""
        self.sink = sink
        self.pid = os.getpid()
        self.started = time.perf_counter_ns()
        self.started_unix = time.time_ns()
        self.regions: list[Any] = []
        self.entries: list[EntryState] = []
        self.codes: dict[int, CodeState] = {}
        """By ``id(code)``: code objects made from the same text compare equal."""
        self._numbers = itertools.count()
        self._threads: dict[int, int] = {}
        self.restore: list[Callable[[], Any]] = []
        """Undoes each patch, in the order of installing."""
        self.hook_handles: list[Any] = []
        self.lookups: itertools.repeat[Any] | None = None
        self.lookups_base = 0
        self.asked = counter()
        """Misses on code objects that had entries: lookups that reached Dynamo."""
        self.kept = counter()
        """Misses that left an entry, whose first run follows without a lookup."""
        self.bases = (0, 0)
        """``asked`` and ``kept`` when this recording began."""
        self.uncounted = False
        """Whether entries exist whose runs are not counted: they were there before us."""
        self.run_watch: RunWatch | None = None
        """Counts code without a counter of ours, where the interpreter can."""
        self.stances: Stances | None = None
        """The stances that the program sets, where this torch has them."""
        self.wake: Callable[[], Any] | None = None
        """Called once when there is something to record."""
        self.local = threading.local()
        self.misses = 0
        """Cache misses that were compiled, refused, switched off or raised so far."""
        self.default_site: Place | None = None
        """The site of regions that the user's code did not make itself."""
        self.timeline: Any = None
        """A :class:`~compile_ledger.observe.recording.timeline.EventRing`, or None."""
        self.unread = MOST_READ
        """Guards that may still be read."""
        self.ended = False
        """Whether the last cache lines were read."""
        self.own_calls: Any = None
        """A :class:`~compile_ledger.observe.hooks.own_calls.OwnCallCounter`, or None."""
        self.calls: Any = None
        """A :class:`~compile_ledger.observe.recording.calls.CallKeeper`, or None."""

    def now(self) -> int:
        """Nanoseconds since the recording began."""
        return time.perf_counter_ns() - self.started

    def thread_number(self) -> int:
        """A small number for the present thread, in the order of their first sight."""
        return self._threads.setdefault(threading.get_ident(), len(self._threads))

    def calls_on(self, code_object: int) -> int:
        """Calls so far of the regions that enter or compiled a code object."""
        made = {
            entry.fact.region
            for entry in list(self.entries)
            if entry.code_object == code_object and entry.fact is not None
        }
        return sum(
            region.calls
            for region in list(self.regions)
            if region.fact.root == code_object or region.fact.id in made
        )

    def declare(self, given: dict[str, Any] | None) -> None:
        """Say what the program gave to the ``torch.compile`` call in progress; None: it ended."""
        self.local.given = given

    def contained(self, function: Callable[..., _T], *args: Any) -> _T | None:
        """Call our own code so that its failure is lost evidence, not the user's exception."""
        try:
            return function(*args)
        except Exception as error:  # noqa: BLE001  see the docstring
            self.sink.lose(getattr(function, "__name__", "recorder"), error)
            return None

    def code_state(self, code: CodeType) -> CodeState:
        """The numbered code object."""
        key = id(code)
        known = self.codes.get(key)
        if known is None or known.code() is not code:
            known = CodeState(_describe(next(self._numbers), code), code)
            self.codes[key] = known
        return known

    def tell(self, state: CodeState) -> None:
        """Write a code object's fact, before the first fact that names it."""
        if not state.told:
            state.told = True
            self.sink.write(state.fact)

    def unique_id(self, code_object: int, compile_id: str) -> str:
        """``compile_id``, or ``0/0~2`` where a reset made the runtime number afresh."""
        same = [e.compile_id for e in self.entries if e.code_object == code_object]
        uses = sum(known.partition("~")[0] == compile_id for known in same)
        return f"{compile_id}~{uses + 1}" if uses else compile_id

    def silent(self) -> int | None:
        """Lookups that neither hit an entry nor reached Dynamo; None where it is not known."""
        if self.lookups is None or self.uncounted:
            return None
        lookups = counted(self.lookups) - self.lookups_base
        asked, kept = counted(self.asked) - self.bases[0], counted(self.kept) - self.bases[1]
        hits = sum(entry.runs for entry in self.entries) - kept
        return max(0, lookups - hits - asked)

    def rebase(self, sink: Sink) -> None:
        """Record afresh to another file: in a fork's child, or when recording restarts."""
        self.sink = sink
        self.pid = os.getpid()
        self.started = time.perf_counter_ns()
        self.started_unix = time.time_ns()
        self.misses = 0
        self.bases = counted(self.asked), counted(self.kept)
        self.lookups_base = 0 if self.lookups is None else counted(self.lookups)
        for region in self.regions:
            region.rebase()
        for entry in self.entries:
            entry.base, entry.inherited = counted(entry.left), True
        if self.run_watch is not None:
            self.run_watch.rebase()
        if self.stances is not None:
            self.stances.rebase()

    def write_region(self, region: Region) -> None:
        """Write a region's fact, again when more of it is known."""
        self.sink.write(region)

    def set_root(self, state: Any, code_object: int) -> None:
        """Note the code object that a region enters first."""
        state.fact = dataclasses.replace(state.fact, root=code_object)
        self.write_region(state.fact)


def _describe(number: int, code: CodeType) -> CodeObject:
    match = RESUME.match(code.co_name)
    return CodeObject(
        id=number,
        name=code.co_name,
        file=code.co_filename,
        line=code.co_firstlineno,
        library=is_library(code.co_filename),
        resume_of=match.group(1) if match else "",
    )


_STDLIB = sysconfig.get_paths()["stdlib"] + os.sep
_OURS = str(Path(__file__).resolve().parents[2]) + os.sep


def is_library(file: str) -> bool:
    """True for torch's own files and the standard library's; site-packages are not."""
    if file.startswith("<frozen "):
        return True
    torch = sys.modules.get("torch")
    home = getattr(torch, "__file__", None) or ""
    if home and file.startswith(home.removesuffix("__init__.py")):
        return True
    return file.startswith(_STDLIB) and "-packages" not in file


def is_ours(file: str) -> bool:
    """True for a file of this package."""
    return file.startswith(_OURS)
