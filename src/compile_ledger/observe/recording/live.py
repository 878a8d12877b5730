"""The one recorder of a live process: start, stop, and what happens at its end."""

from __future__ import annotations

import atexit
import functools
import math
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from compile_ledger.facts.codec import SUFFIX
from compile_ledger.facts.environment import Capability
from compile_ledger.observe.stack import describe

from . import late
from .children import arrange, forget_inherited
from .readings import Readings
from .recorder import Recorder, rank
from .sink import LateSink
from .timeline import EventRing
from .writer import Writer

if TYPE_CHECKING:
    from types import TracebackType

    from typing_extensions import Self

DEFAULT_FOLDER = "compile-ledger"
DEFAULT_INTERVAL = 1.0


class AlreadyRecordingError(RuntimeError):
    """A process has one recorder at a time."""


class Recording:
    """A recording in progress, or one that has ended; also a context manager."""

    def __init__(
        self, folder: str | Path, *, interval: float, timeline: int, always: bool = True
    ) -> None:
        """Prepare; nothing is hooked yet. ``always``: leave a file even of nothing."""
        self._always = always
        self.folder = Path(folder).absolute()
        self.interval = interval
        self.timeline = timeline
        self.recorder: Recorder | None = None
        self.running = False
        self._writer: Writer | None = None
        self._readings: Readings | None = None

    @property
    def path(self) -> Path:
        """The file, once something was recorded."""
        return Path(self._recorder.session.sink.path)

    @property
    def _recorder(self) -> Recorder:
        if self.recorder is None:
            msg = "this recording was never started"
            raise RuntimeError(msg)
        return self.recorder

    def _sink(self) -> LateSink:
        number = rank()
        stem = f"pid{os.getpid()}" if number is None else f"rank{number}-pid{os.getpid()}"
        return LateSink(str(self.folder), stem, SUFFIX)

    def begin(self, recorder: Recorder | None = None) -> None:
        """Install the hooks; ``recorder`` is one that was stopped, to go on with."""
        if recorder is None:
            recorder = Recorder(self._sink(), arm="recorded")
        else:
            recorder.session.rebase(self._sink())
        self.recorder = recorder
        session = recorder.session
        if self.timeline and session.timeline is None:
            session.timeline = EventRing(session, self.timeline)
            session.timeline.blind = bool(session.entries)
        recorder.start((f"counters written every {self.interval:g} s by a thread of ours",))
        fresh = late.adopt(session, recorder.capabilities)
        self._say_timeline(recorder)
        late.tell(session, fresh)
        self.running = True
        self._sleep()

    def _say_timeline(self, recorder: Recorder) -> None:
        ring: EventRing | None = recorder.session.timeline
        if ring is None:
            return
        session = recorder.session
        ring.blind = ring.blind or session.uncounted or any(e.watched for e in session.entries)
        ring.clear()
        why = "entries that were there before give no event" if ring.blind else ""
        recorder.capabilities.table["timeline"] = Capability(
            "timeline", present=not ring.blind, why=why, shows="the order of calls"
        )

    def _sleep(self) -> None:
        """Do nothing until a region is called or a fact is written."""
        session = self._recorder.session
        self._readings = Readings(self._recorder)
        session.wake = self._wake

    def _wake(self) -> None:
        session = self._recorder.session
        if self._readings is not None and self._writer is None:
            self._writer = Writer(self.interval, self._readings.write_changes)
        session.wake = None
        session.sink.begin()

    def end(self, **goodbye: Any) -> None:
        """Write the goodbye and take every hook out again. Once only."""
        if not self.running:
            return
        self.say_goodbye(**goodbye)
        self.running = False
        recorder = _state["stopped"] = self._recorder
        late.remove(recorder.session)
        recorder.session.sink.close()

    def say_goodbye(self, **goodbye: Any) -> None:
        """Write the last counters and the goodbye; the hooks stay."""
        writer, self._writer = self._writer, None
        if writer is not None:
            writer.stop()
        recorder = self._recorder
        ring = recorder.session.timeline
        if ring is not None:
            recorder.session.contained(ring.flush)
        if self._always or recorder.session.sink.opened:
            recorder.session.contained(functools.partial(recorder.goodbye, **goodbye))

    def in_forked_child(self) -> None:
        """Go on in a fork's child: its own file, its own counts, once it does something."""
        recorder = self._recorder
        recorder.forked_from = recorder.session.pid
        self._writer = None
        self._always = False
        recorder.session.rebase(self._sink())
        recorder.session.sink.preface = recorder.preface
        forget_inherited(recorder.session)
        if recorder.session.timeline is not None:
            recorder.session.timeline.clear()
        self._sleep()

    def __enter__(self) -> Self:
        """The recording itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the recording; an exception of the block is noted and goes on."""
        if error is None:
            self.end()
        else:
            self.end(status="raised", raised=describe(error))


_state: dict[str, Any] = {"current": None, "stopped": None, "arranged": False}


def current() -> Recording | None:
    """The recording in progress in this process."""
    found: Recording | None = _state["current"]
    return found if found is not None and found.running else None


def start(
    folder: str | Path = DEFAULT_FOLDER,
    *,
    interval: float = DEFAULT_INTERVAL,
    timeline: int = 0,
    always: bool = True,
) -> Recording:
    """Record this process's compiled regions to a file in ``folder`` from now on.

    Imports torch. ``interval``: seconds between readings of the counters. ``timeline``:
    how many of the last events to keep in order (0: none). ``always``: leave a file even
    where nothing was compiled (and say goodbye at exit ourselves). A folder that cannot be
    written costs one warning on stderr and the evidence, nothing else. Raises
    :class:`AlreadyRecordingError`, ``ValueError`` for an interval or a timeline that is
    none, and ``ModuleNotFoundError`` without torch.
    """
    if not 0 < interval < math.inf or timeline < 0:
        msg = (
            f"interval={interval} and timeline={timeline}: seconds above 0, and a number of events"
        )
        raise ValueError(msg)
    if current() is not None:
        msg = f"this process is already recording to {_state['current'].path}: stop() first"
        raise AlreadyRecordingError(msg)
    made = Recording(folder, interval=interval, timeline=timeline, always=always)
    made.begin(_state["stopped"])
    _state["current"] = made
    if not _state["arranged"]:
        _state["arranged"] = True
        if always:
            atexit.register(at_exit)
        arrange(_in_child, _at_child_exit)
    return made


def stop() -> Recording | None:
    """End the recording and take every hook out; returns it, None where there was none.

    Entries that were compiled meanwhile keep their counting prologue (30 to 60 ns a run)
    until the runtime drops them.
    """
    found = current()
    if found is not None:
        found.end()
    return found


def record(
    folder: str | Path = DEFAULT_FOLDER,
    *,
    interval: float = DEFAULT_INTERVAL,
    timeline: int = 0,
) -> Recording:
    """Record a block (``with``), with the options of :func:`start`."""
    return start(folder, interval=interval, timeline=timeline)


def _in_child() -> None:
    found = current()
    if found is not None and found.recorder is not None:
        found.recorder.session.contained(found.in_forked_child)


def _at_child_exit() -> None:
    found = current()
    if found is not None:
        found.say_goodbye()


def at_exit() -> None:
    """Say goodbye, with the exception that ends the program if there is one."""
    found = current()
    if found is None:
        return
    error = None if hasattr(sys, "ps1") else getattr(sys, "last_value", None)
    if isinstance(error, BaseException):
        found.say_goodbye(status="raised", raised=describe(error))
    else:
        found.say_goodbye()


def from_environment(folder: str, *, forked_from: int | None = None) -> None:
    """Start as the environment asks; a failure costs one line on stderr, nothing else.

    ``forked_from``: the process that was told to record, where this is a fork of it.
    """
    try:
        made = start(
            folder,
            interval=float(os.environ.get("COMPILE_LEDGER_INTERVAL") or DEFAULT_INTERVAL),
            timeline=int(os.environ.get("COMPILE_LEDGER_TIMELINE") or 0),
            always=False,
        )
        if made.recorder is not None:
            made.recorder.forked_from = forked_from
    except Exception as error:  # noqa: BLE001  the program goes on without us
        sys.stderr.write(f"compile-ledger: not recording: {type(error).__name__}: {error}\n")
