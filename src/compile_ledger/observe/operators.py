"""Operators of sampled calls, inside graphs and outside, by torch's own profiler.

A watcher of an audit's capture arm. While a sampled call runs, the profiler records its
operators, and a Python profile function puts a range around each run of a graph and
around each line of the program that calls on. Neither changes guards or graphs; a call
in which anything was compiled is left out, and one that met a limit: it ran eagerly
whatever its graphs hold. Only the main thread's calls are looked at: a profiler that
two threads start crashes the process.
"""

from __future__ import annotations

import sys
import threading
from dataclasses import dataclass
from types import CodeType
from typing import TYPE_CHECKING, Any

from compile_ledger.facts.outside import EagerPlace, Operators
from compile_ledger.facts.place import Place
from compile_ledger.observe.capabilities import MissingError, need

from .hooks.entries import GRAPH_PREFIX
from .hooks.own_code import ours
from .recording.session import RESUME
from .stack import is_program, is_written

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from types import FrameType

    from compile_ledger.facts.calls import Call
    from compile_ledger.observe.recording.calls import OpenCall

CHANGED = "torch's profiler and a Python profile function in sampled calls"
EVERY = 16
"""Each of so many first calls of a region is sampled, then those at powers of two."""
KEPT = 8
"""Samples of a region that are written: its last ones."""
_RANGE = "compile-ledger:"
_GRAPH, _LEFT_OUT = 0, 1
_READS = frozenset({"aten::item", "aten::is_nonzero", "aten::_local_scalar_dense"})
"""Operators that hand one value to Python: no graph can hold what follows from it."""
_OVERHEAD = frozenset({"aten::detach", "aten::alias", "aten::lift_fresh"})
"""Views that torch itself makes between frames; they compute nothing."""
_SYMBOLIC_FLOAT = "_as_tensor_fullprec"
"""What the code that Dynamo made calls for each symbolic float that it gives a graph."""
_MOST_PLACES = 8
_OTHER_THREAD = "operators are counted in calls of the main thread only"
_TURNED_AWAY = frozenset({"refused", "fell_back"})


@dataclass(frozen=True)
class _Label:
    """What a range stands for: a line of a function outside graphs."""

    code: CodeType | None = None
    line: int = 0
    program: Place | None = None
    disabled: bool = False


class OperatorSampler:
    """A watcher that counts the operators of some calls of each region."""

    def __init__(self) -> None:
        """Sample nothing yet. Raises :class:`MissingError` where this torch lacks the means."""
        from torch._C import _profiler
        from torch._C._dynamo import eval_frame
        from torch.autograd import profiler

        need(_profiler, "_RecordFunctionFast")
        need(eval_frame, "set_eval_frame")
        self._set_callback = eval_frame.set_eval_frame
        self._profile = profiler.profile
        self._range = _profiler._RecordFunctionFast  # noqa: SLF001
        self._open: tuple[OpenCall, Any, _Marker] | None = None
        self.found: dict[int, list[Operators]] = {}

    def before(self, call: OpenCall) -> None:
        """Start to look at a call that is sampled, where nobody else is profiling."""
        number = call.index
        sampled = number and (number < EVERY or not number & (number - 1))
        if not sampled or self._open is not None or sys.getprofile() is not None:
            return
        if _is_profiled():
            return
        if threading.current_thread() is not threading.main_thread():
            region = call.region.fact.id
            self.found.setdefault(region, [Operators(region, number, why=_OTHER_THREAD)])
            return
        profile = self._profile()
        profile.__enter__()
        marker = _Marker(self._range, self._set_callback, profile)
        self._open = call, profile, marker
        sys.setprofile(marker)

    def after(self, call: OpenCall, fact: Call) -> None:
        """End looking; keep what was seen of a call that reused what was compiled."""
        if self._open is None or self._open[0] is not call:
            return
        _call, profile, marker = self._open
        self._open = None
        if marker.ended:
            return
        marker.end()
        if fact.disposition != "reused" and (fact.graphs or call.misses):
            return
        if fact.disposition in _TURNED_AWAY:
            return
        need(profile, "kineto_results")
        kept = self.found.setdefault(fact.region, [])
        kept.append(_counted(fact, profile.kineto_results.events(), marker))
        del kept[:-KEPT]

    def facts(self) -> Iterator[Operators]:
        """The last samples of each region."""
        for kept in self.found.values():
            yield from kept


def _is_profiled() -> bool:
    import torch

    enabled = getattr(torch._C._autograd, "_profiler_enabled", None)  # noqa: SLF001
    return bool(enabled and enabled())


class _Marker:
    """The profile function of one call: opens and closes ranges as frames come and go."""

    def __init__(
        self, make: Callable[[str], Any], set_callback: Callable[[Any], Any], profile: Any
    ) -> None:
        self._make = make
        self._profile = profile
        self.ended = False
        self._set_callback = set_callback
        self.labels: list[_Label] = [_Label(), _Label()]
        """What the ranges stand for, by number; 0 is a graph, 1 what is left out."""
        self._numbers: dict[tuple[int, int, bool], int] = {}
        self._stack: list[tuple[Any, Any]] = []
        """The key of what opened a range (a frame, or a frame's C call), and the range."""
        self._whole: FrameType | None = None
        """The frame of a graph, or of what is left out, inside which nothing is looked at."""
        self.graphs = 0
        self._kinds: dict[CodeType, bool] = {}
        self._names: dict[CodeType, tuple[str, ...]] = {}

    @ours
    def __call__(self, frame: FrameType, event: str, arg: Any) -> None:
        """What the interpreter calls at each call and return; Dynamo is not to see it."""
        del arg
        callback = self._set_callback(None)
        try:
            self._happened(frame, event)
        finally:
            self._set_callback(callback)

    def _happened(self, frame: FrameType, event: str) -> None:
        if self._whole is not None:
            if event == "return" and frame is self._whole:
                self._whole = None
                self._shut(frame)
        elif event == "call":
            self._called(frame)
        elif event == "return":
            self._shut(frame)
        elif event == "c_call":
            if self._is_users(frame.f_code):
                self._start((frame, 1), self._number(frame.f_code, frame.f_lineno, frame))
        else:
            self._shut((frame, 1))

    def _called(self, frame: FrameType) -> None:
        back, code = frame.f_back, frame.f_code
        if code.co_name == "_compile" and code.co_filename.endswith("convert_frame.py"):
            self.end()  # Compiling takes many times longer while every call is looked at.
        elif back is not None and self._is_graph(frame, back):
            self.graphs += 1
            self._whole = frame
            self._start(frame, _GRAPH)
        elif code.co_filename.endswith("_tensor_str.py") or code.co_name == _SYMBOLIC_FLOAT:
            self._whole = frame
            self._start(frame, _LEFT_OUT)
        elif self._is_users(code):
            self._start(frame, self._number(code, 0, frame))
        elif back is not None and self._is_users(back.f_code):
            self._start(frame, self._number(back.f_code, back.f_lineno, back))

    def _is_users(self, code: CodeType) -> bool:
        known = self._kinds.get(code)
        if known is None:
            file = code.co_filename
            known = is_written(file)
            self._kinds[code] = known
        return known

    def _is_graph(self, frame: FrameType, back: FrameType) -> bool:
        """Whether a frame is a call of a graph, made by an entry's compiled code."""
        code = back.f_code
        names = self._names.get(code)
        if names is None:
            names = tuple(name for name in code.co_names if name.startswith(GRAPH_PREFIX))
            self._names[code] = names
        return any(_runs(back.f_globals.get(name), frame) for name in names)

    def _number(self, code: CodeType, line: int, frame: FrameType) -> int:
        disabled = _is_disabled(frame)
        key = (id(code), line, disabled)
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self.labels)
            self.labels.append(_Label(code, line, _program_above(frame), disabled))
        return number

    def _start(self, key: Any, number: int) -> None:
        made = self._make(f"{_RANGE}{number}")
        made.__enter__()
        self._stack.append((key, made))

    def _shut(self, key: Any) -> None:
        if self._stack and self._stack[-1][0] == key:
            self._stack.pop()[1].__exit__(None, None, None)

    def end(self) -> None:
        """Stop looking, with what is still open, as where the call ended by an exception."""
        sys.setprofile(None)
        self.ended = True
        while self._stack:
            self._stack.pop()[1].__exit__(None, None, None)
        self._profile.__exit__(None, None, None)


def _runs(function: Any, frame: FrameType) -> bool:
    """Whether ``frame`` is a call of ``function``: its code, and what it closes over."""
    code = getattr(function, "__code__", None)
    if code is None or frame.f_code is not code:
        return False
    cells = zip(code.co_freevars, function.__closure__ or (), strict=False)
    seen = frame.f_locals
    return all(seen.get(name) is cell.cell_contents for name, cell in cells)


def _is_disabled(frame: FrameType) -> bool:
    """Whether a frame, or one that called it, is run by ``torch.compiler.disable``."""
    above = frame.f_back
    while above is not None:
        if above.f_code.co_filename.endswith("eval_frame.py"):
            kind = type(above.f_locals.get("self")).__name__
            if kind in ("DisableContext", "OptimizeContext"):
                return kind == "DisableContext"
        above = above.f_back
    return False


def _program_above(frame: FrameType) -> Place | None:
    """The program's own line that led into a library's frame; None where it is the program's."""
    if is_program(frame.f_code.co_filename):
        return None
    above = frame.f_back
    while above is not None:
        file = above.f_code.co_filename
        if is_program(file):
            return Place(file, above.f_lineno, _name(above.f_code))
        above = above.f_back
    return None


def _name(code: CodeType) -> str:
    found = RESUME.match(code.co_name)
    return found.group(1) if found else getattr(code, "co_qualname", code.co_name)


def _counted(fact: Call, events: Iterable[Any], marker: _Marker) -> Operators:
    """Sum the operators that nothing but ranges holds, by the range around them."""
    spent: dict[int, list[int]] = {}
    for number, name, took in _outermost(events):
        if number != _LEFT_OUT and name not in _READS and name not in _OVERHEAD:
            of = spent.setdefault(number, [0, 0])
            of[0] += 1
            of[1] += took
    inside = spent.pop(_GRAPH, [0, 0])
    outside = [sum(column) for column in zip(*spent.values(), strict=True)] or [0, 0]
    why = ""
    if fact.graphs and not marker.graphs:
        why = "the profiler did not see the graphs of the call"
    return Operators(
        region=fact.region,
        call=fact.index,
        graphs=marker.graphs,
        inside=inside[0],
        outside=outside[0],
        inside_ns=inside[1],
        outside_ns=outside[1],
        places=_places(spent, marker.labels),
        why=why,
    )


def _outermost(events: Iterable[Any]) -> Iterator[tuple[int, str, int]]:
    """Range number, name and nanoseconds of each operator that no other operator called.

    -1 outside every range. Backward passes are left out: with a backend that captures
    them their operators are compiled, too, and this arm's does not.
    """
    read = ((e.start_thread_id(), e.start_ns(), -e.duration_ns(), e.name()) for e in events)
    open_: list[tuple[int, int, bool]] = []
    thread = None
    for of, start, minus, name in sorted(read):
        if of != thread:
            thread, open_ = of, []
        while open_ and open_[-1][0] <= start:
            open_.pop()
        _end, number, held = open_[-1] if open_ else (0, -1, False)
        if name.startswith(_RANGE):
            number = int(name.removeprefix(_RANGE))
        elif "::" in name and not held and not name.startswith("profiler::"):
            held = True
            if not name.startswith(("autograd::", "torch::autograd::")):
                yield number, name, -minus
        open_.append((start - minus, number, held))


def _places(spent: dict[int, list[int]], labels: list[_Label]) -> tuple[EagerPlace, ...]:
    """The functions in which operators ran, each at the line that took longest."""
    by_code: dict[tuple[int, bool], list[tuple[int, int, _Label]]] = {}
    for number, (operators, took) in spent.items():
        label = labels[number] if number >= 0 else _Label()
        by_code.setdefault((id(label.code), label.disabled), []).append((took, operators, label))
    found = [_place(lines) for lines in by_code.values() if lines[0][2].code is not None]
    return tuple(sorted(found, key=lambda one: -one.ns)[:_MOST_PLACES])


def _place(lines: list[tuple[int, int, _Label]]) -> EagerPlace:
    shown = max((one for one in lines if one[2].line), default=lines[0], key=lambda one: one[0])[2]
    code = shown.code
    assert code is not None  # noqa: S101  the caller leaves out what has none
    return EagerPlace(
        place=Place(code.co_filename, shown.line or code.co_firstlineno, _name(code)),
        program=shown.program,
        operators=sum(one[1] for one in lines),
        ns=sum(one[0] for one in lines),
        disabled=shown.disabled,
    )


__all__ = ["CHANGED", "MissingError", "OperatorSampler"]
