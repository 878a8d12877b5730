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
from typing import TYPE_CHECKING, Any, TypeVar

from compile_ledger.facts.region import CodeObject, Region

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType

    from compile_ledger.facts.place import Place

    from .sink import Sink

MANY = 2**62
"""The length of a counting iterator: longer than any program runs."""

_RESUME = re.compile(r"(?:torch_dynamo_resume_in_|<resume in )(.+?)(?:_at_\d+|>)$")
_T = TypeVar("_T")


def counter() -> itertools.repeat[None]:
    """An iterator whose ``__next__`` counts, in C: see :func:`counted`."""
    return itertools.repeat(None, MANY)


def counted(iterator: itertools.repeat[Any]) -> int:
    """How often ``__next__`` of a :func:`counter` was called."""
    return MANY - iterator.__length_hint__()


class EntryState:
    """One compiled entry while it can still run."""

    __slots__ = ("code_object", "compile_id", "graph_ops", "left", "new_code")

    def __init__(self, code_object: int, compile_id: str) -> None:
        self.code_object = code_object
        self.compile_id = compile_id
        self.graph_ops: int | None = None
        self.left = counter()
        self.new_code: weakref.ref[CodeType] | None = None


class CodeState:
    """One code object: its fact, and whether Dynamo still looks at it."""

    __slots__ = ("code", "fact", "state")

    def __init__(self, fact: CodeObject, code: CodeType, forget: Callable[..., None]) -> None:
        self.fact = fact
        self.code = weakref.ref(code, forget)
        self.state = "on"
        """``on``, ``off`` (skipped for good) or ``limit`` (runs what it has)."""


class Session:
    """The state of one recorder in one process."""

    def __init__(self, sink: Sink) -> None:
        """Start the clock; nothing is hooked yet."""
        self.sink = sink
        self.pid = os.getpid()
        self.started = time.perf_counter_ns()
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
        self.local = threading.local()
        self.misses = 0
        """Cache misses that were compiled, refused, switched off or raised so far."""
        self.default_site: Place | None = None
        """The site of regions that the user's code did not make itself."""
        self.calls: Any = None
        """A :class:`compile_ledger.observe.calls.CallKeeper` where calls are kept apart."""

    def now(self) -> int:
        """Nanoseconds since the recording began."""
        return time.perf_counter_ns() - self.started

    def thread_number(self) -> int:
        """A small number for the present thread, in the order of their first sight."""
        return self._threads.setdefault(threading.get_ident(), len(self._threads))

    def contained(self, function: Callable[..., _T], *args: Any) -> _T | None:
        """Call our own code so that its failure is lost evidence, not the user's exception."""
        try:
            return function(*args)
        except Exception as error:  # noqa: BLE001  see the docstring
            self.sink.lose(getattr(function, "__name__", "recorder"), error)
            return None

    def code_state(self, code: CodeType) -> CodeState:
        """The numbered code object; the first sight of it is written as a fact."""
        key = id(code)
        known = self.codes.get(key)
        if known is None:
            fact = _describe(next(self._numbers), code)
            known = CodeState(fact, code, lambda _: self._forget(key))
            self.codes[key] = known
            self.sink.write(fact)
        return known

    def _forget(self, key: int) -> None:
        self.codes.pop(key, None)

    def write_region(self, region: Region) -> None:
        """Write a region's fact, again when more of it is known."""
        self.sink.write(region)

    def set_root(self, state: Any, code_object: int) -> None:
        """Note the code object that a region enters first."""
        state.fact = dataclasses.replace(state.fact, root=code_object)
        self.write_region(state.fact)


def _describe(number: int, code: CodeType) -> CodeObject:
    match = _RESUME.match(code.co_name)
    return CodeObject(
        id=number,
        name=code.co_name,
        file=code.co_filename,
        line=code.co_firstlineno,
        library=is_library(code.co_filename),
        resume_of=match.group(1) if match else "",
    )


_STDLIB = sysconfig.get_paths()["stdlib"] + os.sep
_OURS = str(Path(__file__).resolve().parents[1]) + os.sep


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
