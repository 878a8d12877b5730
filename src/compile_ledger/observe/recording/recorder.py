"""Installs the instruments in this process, and takes them out again."""

from __future__ import annotations

import dataclasses
import functools
import os
import time
from typing import TYPE_CHECKING, Any

import compile_ledger
from compile_ledger.facts.arm import ArmStatus, Goodbye, Header
from compile_ledger.facts.calls import Counters, EntryRuns, RegionCalls
from compile_ledger.facts.codec import FORMAT, VERSION
from compile_ledger.observe.capabilities import Capabilities
from compile_ledger.observe.clock import children_cpu_ns, cpu_ns, peak_bytes
from compile_ledger.observe.environment import environment
from compile_ledger.observe.hooks import (
    deaths,
    eager_runs,
    entries,
    evidence,
    lookups,
    misses,
    regions,
    rejections,
    stances,
)
from compile_ledger.observe.hooks.own_code import skip_ours
from compile_ledger.observe.settings import recompile_limit

from .calls import CallKeeper
from .session import Session, counted
from .sink import LateSink, Sink

if TYPE_CHECKING:
    from collections.abc import Iterator

    from compile_ledger.facts.place import Raised

_CHANGED = (
    "one enter hook on each torch.compile region",
    "a counting prologue in each compiled entry",
    "patched attributes of torch._dynamo and torch.fx that report misses and their causes",
    "a C counter in the guard-complete slot, where torch has one",
    "sys.monitoring events on code that a limit refused and on earlier entries (Python 3.12)",
)


class Recorder:
    """One recorder in one process. Imports ``torch._dynamo`` when it starts."""

    def __init__(
        self, sink: Sink | str, *, arm: str = "", keep_calls: bool = False, eager: bool = False
    ) -> None:
        """Record to a sink, or to a file; raises ``OSError`` when that cannot be written.

        ``keep_calls`` keeps every region call apart (audits), at some microseconds a call.
        ``eager`` says that the process runs eager by request.
        """
        self.session = Session(Sink(sink) if isinstance(sink, str) else sink)
        self.arm = arm
        self.capabilities = Capabilities()
        self.calls = CallKeeper(self.session, eager=eager) if keep_calls else None
        self.session.calls = self.calls
        self.changed: tuple[str, ...] = ()
        self.forked_from: int | None = None
        self._done = False

    def start(self, changed: tuple[str, ...] = ()) -> None:
        """Install every instrument that this torch allows, and write the header.

        The header of a :class:`~compile_ledger.observe.recording.sink.LateSink` waits for a fact.
        """
        self.changed = _CHANGED + changed
        self.install()
        self.session.sink.preface = self.preface
        if self.session.sink.opened:
            self.session.contained(self.session.sink.begin)

    def install(self) -> None:
        """Put every instrument in place, each in its own attempt."""
        import torch._dynamo  # noqa: F401  the instruments patch it

        session = self.session
        session.ended = False
        attempt = self.capabilities.attempt
        bind = functools.partial
        attempt("own-code", "keeps Dynamo from tracing the recorder", skip_ours)
        attempt(
            "regions", "torch.compile calls and calls of regions", bind(regions.install, session)
        )
        attempt("misses", "frame evaluations that reached Dynamo", bind(misses.install, session))
        attempt("entry-runs", "runs of each compiled entry", bind(entries.install, session))
        attempt("lookups", "guard lookups, silent eager calls", bind(lookups.install, session))
        attempt(
            "eager-runs",
            "silent eager runs, frame by frame",
            bind(eager_runs.install, session),
        )
        if self.calls is None or not self.calls.eager:
            shows = "stances that the program sets, and calls under each"
            attempt("stances", shows, bind(stances.install, session))
        evidence.install(session, self.capabilities)
        shows = "what entries assumed whose objects were freed before the end"
        attempt("freed-entries", shows, bind(deaths.install, session))
        attempt("rejections", "calls that each entry's guards refused", rejections.available)

    def preface(self) -> Iterator[Any]:
        """The header, the capability table, and what was known when the file was opened."""
        session = self.session
        yield Header(
            format=FORMAT,
            version=VERSION,
            tool=compile_ledger.__version__,
            pid=os.getpid(),
            arm=self.arm,
            rank=rank(),
            started_unix_ns=session.started_unix,
            environment=environment(gently=isinstance(session.sink, LateSink)),
            changed=self.changed,
            forked_from=self.forked_from,
        )
        yield from self.capabilities.table.values()
        yield from (state.fact for state in list(session.codes.values()) if state.told)
        yield from (region.fact for region in list(session.regions) if region.fact.target)
        yield from (
            dataclasses.replace(entry.fact, inherited=True, call=None, started_ns=0)
            for entry in list(session.entries)
            if entry.fact is not None and entry.inherited
        )

    def counters(self, *, last: bool = False) -> Counters:
        """A reading of every counter now; the ``last`` one asks each entry's guards, too."""
        session = self.session
        refused = rejections.read(session) if last else {}
        watch = session.run_watch
        return Counters(
            at_ns=session.now(),
            regions=tuple(RegionCalls(r.fact.id, r.calls, *r.times) for r in session.regions),
            entries=tuple(
                EntryRuns(e.code_object, e.compile_id, e.runs, refused.get(id(e)))
                for e in list(session.entries)
            ),
            lookups=self._lookups(),
            silent=session.silent(),
            eager=() if watch is None else session.contained(watch.read) or (),
            stances=() if session.stances is None else session.stances.read(),
            recompile_limit=recompile_limit(),
            cpu_ns=time.process_time_ns(),
            children_cpu_ns=children_cpu_ns(),
        )

    def _lookups(self) -> int | None:
        session = self.session
        if session.lookups is None or session.uncounted:
            return None
        return counted(session.lookups) - session.lookups_base

    def finish(
        self,
        status: ArmStatus = "finished",
        raised: Raised | None = None,
        exit_code: int | None = None,
        ended: tuple[str, int | None] = ("", None),
    ) -> None:
        """Write the goodbye and close the file. Once only.

        ``ended``: of a program that we ended, when, and after how many outermost calls.
        """
        if self._done:
            return
        self._done = True
        self.goodbye(status, raised, exit_code, ended)
        self.session.sink.close()

    def goodbye(
        self,
        status: ArmStatus = "finished",
        raised: Raised | None = None,
        exit_code: int | None = None,
        ended: tuple[str, int | None] = ("", None),
    ) -> None:
        """Write the cache lines, the counters, what was lost, and the goodbye."""
        sink = self.session.sink
        self.session.contained(self._cache_lines)
        reading = self.session.contained(functools.partial(self.counters, last=True))
        if reading is not None:
            sink.write(reading)
        for lost in sink.losses():
            sink.write(lost)
        children = children_cpu_ns()
        sink.write(
            Goodbye(
                status=status,
                at_ns=self.session.now(),
                why=ended[0],
                calls=ended[1],
                raised=raised,
                exit_code=exit_code,
                cpu_ns=cpu_ns() - children,
                children_cpu_ns=children,
                peak_bytes=peak_bytes(),
            )
        )

    def _cache_lines(self) -> None:
        """Write the line of each code object that has entries."""
        self.session.ended = True
        if self.session.entries or self.session.uncounted:
            from compile_ledger.observe.cache_line.at_end import readings

            for reading in readings(self.session):
                self.session.sink.write(reading)


def rank() -> int | None:
    """This process's rank, where a launcher set one."""
    text = os.environ.get("RANK", "")
    return int(text) if text.isdigit() else None
