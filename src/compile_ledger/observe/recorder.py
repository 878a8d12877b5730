"""Installs the instruments in this process, and takes them out again."""

from __future__ import annotations

import functools
import os
import time
from typing import TYPE_CHECKING

import compile_ledger
from compile_ledger.facts.arm import ArmStatus, Goodbye, Header
from compile_ledger.facts.calls import Counters, EntryRuns, RegionCalls
from compile_ledger.facts.codec import FORMAT, VERSION

from . import entries, evidence, lookups, misses, regions
from .calls import CallKeeper
from .capabilities import Capabilities
from .clock import children_cpu_ns, cpu_ns, peak_bytes
from .environment import environment
from .own_code import skip_ours
from .session import Session, counted
from .sink import Sink

if TYPE_CHECKING:
    from compile_ledger.facts.place import Raised

_CHANGED = (
    "one enter hook on each torch.compile region",
    "a counting prologue in each compiled entry",
    "patched attributes of torch._dynamo and torch.fx that report misses and their causes",
    "a C counter in the guard-complete slot, where torch has one",
)


class Recorder:
    """One recorder in one process. Imports ``torch._dynamo`` when it starts."""

    def __init__(
        self, path: str, *, arm: str = "", keep_calls: bool = False, eager: bool = False
    ) -> None:
        """Open the recording ``path``; raises ``OSError`` when it cannot be written.

        ``keep_calls`` keeps every region call apart (audits), at some microseconds a call.
        ``eager`` says that the process runs eager by request.
        """
        self.session = Session(Sink(path))
        self.arm = arm
        self.capabilities = Capabilities()
        self.calls = CallKeeper(self.session, eager=eager) if keep_calls else None
        self.session.calls = self.calls
        self._done = False

    def start(self, changed: tuple[str, ...] = ()) -> None:
        """Write the header and install every instrument that this torch allows."""
        import torch._dynamo  # noqa: F401  the instruments patch it

        session = self.session
        attempt = self.capabilities.attempt
        bind = functools.partial
        attempt("own-code", "keeps Dynamo from tracing the recorder", skip_ours)
        attempt(
            "regions", "torch.compile calls and calls of regions", bind(regions.install, session)
        )
        attempt("misses", "frame evaluations that reached Dynamo", bind(misses.install, session))
        attempt("entry-runs", "runs of each compiled entry", bind(entries.install, session))
        attempt("lookups", "guard lookups, silent eager calls", bind(lookups.install, session))
        evidence.install(session, self.capabilities)
        self._write_header(changed)

    def _write_header(self, changed: tuple[str, ...]) -> None:
        write = self.session.sink.write
        write(
            Header(
                format=FORMAT,
                version=VERSION,
                tool=compile_ledger.__version__,
                pid=os.getpid(),
                arm=self.arm,
                rank=_rank(),
                started_unix_ns=time.time_ns(),
                environment=environment(),
                changed=_CHANGED + changed,
            )
        )
        for capability in self.capabilities.table.values():
            write(capability)

    def counters(self) -> Counters:
        """A reading of every counter now."""
        session = self.session
        return Counters(
            at_ns=session.now(),
            regions=tuple(RegionCalls(r.fact.id, r.calls, *r.times) for r in session.regions),
            entries=tuple(
                EntryRuns(e.code_object, e.compile_id, entries.runs(e)) for e in session.entries
            ),
            lookups=None if session.lookups is None else counted(session.lookups),
            cpu_ns=time.process_time_ns(),
            children_cpu_ns=children_cpu_ns(),
        )

    def finish(
        self,
        status: ArmStatus = "finished",
        raised: Raised | None = None,
        exit_code: int | None = None,
    ) -> None:
        """Write the counters, what was lost, and the goodbye; close the file. Once only."""
        if self._done:
            return
        self._done = True
        sink = self.session.sink
        sink.write(self.counters())
        for lost in sink.losses():
            sink.write(lost)
        children = children_cpu_ns()
        sink.write(
            Goodbye(
                status=status,
                at_ns=self.session.now(),
                raised=raised,
                exit_code=exit_code,
                cpu_ns=cpu_ns() - children,
                children_cpu_ns=children,
                peak_bytes=peak_bytes(),
            )
        )
        sink.close()


def _rank() -> int | None:
    rank = os.environ.get("RANK", "")
    return int(rank) if rank.isdigit() else None
