"""Steady-state timing of an arm's regions, after the program itself has ended."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from compile_ledger.facts.opinion import Opinion
from compile_ledger.facts.timing import GuardLookup, SteadyState
from compile_ledger.observe.compiled import compiled
from compile_ledger.observe.hooks.regions import region_of
from compile_ledger.observe.opinions import opinion
from compile_ledger.observe.recording.call_view import arguments

from .correctness.twin import Twin
from .guard_cost import guard_lookup
from .steady_state import Pair, as_fact, interleave
from .subject import Outcome

if TYPE_CHECKING:
    from compile_ledger.facts.calls import Call
    from compile_ledger.observe.recording.calls import OpenCall
    from compile_ledger.observe.recording.session import Session

_LAST = 4


class LastCalls:
    """A watcher that keeps copies of the arguments of each region's last calls.

    It also keeps what was compiled alive, which would be gone when the program ends.
    """

    def __init__(self) -> None:
        """Keep nothing yet."""
        self.kept: dict[int, list[tuple[Any, Any, Modes]]] = {}
        self.held: dict[int, tuple[Any, Any]] = {}
        """Region to its target and to the runtime's context of it."""

    def before(self, call: OpenCall) -> None:
        """Copy the arguments of an outermost call."""
        given = arguments(call.frame)
        if call.depth or given is None:
            return
        region = call.region
        kept = self.kept.setdefault(region.fact.id, [])
        kept.append((*Twin(double=False).value(given), Modes.now()))
        del kept[:-_LAST]
        if region.fact.id not in self.held and region.context is not None:
            self.held[region.fact.id] = (region.target(), region.context())

    def after(self, call: OpenCall, fact: Call) -> None:
        """Nothing is needed after a call."""


@dataclass(frozen=True)
class Modes:
    """What a program can set around a call that its guards look at."""

    grad: bool
    inference: bool
    autocast: tuple[tuple[str, bool, Any], ...]
    """Device, whether autocast is on for it, and its dtype."""

    @staticmethod
    def now() -> Modes:
        """The modes of this thread."""
        import torch

        casts = tuple(
            (device, torch.is_autocast_enabled(device), torch.get_autocast_dtype(device))
            for device in _DEVICES
        )
        return Modes(torch.is_grad_enabled(), torch.is_inference_mode_enabled(), casts)

    @contextmanager
    def again(self) -> Iterator[None]:
        """Set them as they were."""
        import torch

        with ExitStack() as stack:
            stack.enter_context(torch.inference_mode(self.inference))
            stack.enter_context(torch.set_grad_enabled(self.grad))
            for device, on, dtype in self.autocast:
                if on or torch.is_autocast_enabled(device):
                    stack.enter_context(torch.autocast(device, dtype, enabled=on))
            yield


_DEVICES = ("cpu", "cuda")


Timed = SteadyState | GuardLookup


def replay_program(last: LastCalls, session: Session, seed: int) -> Iterator[Timed]:
    """Interleave the last calls of each region of a program that has ended."""
    for number, kept in last.kept.items():
        target, context = last.held.get(number, (None, None))
        if target is None or context is None:
            yield SteadyState(number, "replayed calls", why="what was compiled is gone")
            continue
        compiled = context(target)
        before = session.misses
        pairs = [
            Pair(partial(target, *args, **kwargs), partial(compiled, *args, **kwargs), modes.again)
            for args, kwargs, modes in kept
        ]
        samples, dropped = interleave(pairs, seed, lambda: session.misses)
        if session.misses != before:
            yield SteadyState(number, FORWARD, why=_COMPILED_ANEW)
            continue
        yield as_fact(number, FORWARD, samples, dropped)
        given = [(args, kwargs, modes.again) for args, kwargs, modes in kept]
        yield from _lookup(session, number, compiled, given, seed)


FORWARD = "replayed calls, forward only"
_COMPILED_ANEW = (
    "replaying the last calls compiled anew: something that the program sets around them "
    "could not be set again"
)


def _lookup(session: Session, *asked: Any) -> Iterator[GuardLookup]:
    """The guard lookup alone; a failure of ours is lost evidence."""
    found = session.contained(guard_lookup, *asked)
    if found is not None:
        yield found


def replay_workload(outcome: Outcome, session: Session, seed: int) -> Iterator[Timed]:
    """Interleave the last calls of a workload."""
    workload = outcome.workload
    if workload is None or not outcome.calls:
        return

    last = outcome.calls[-_LAST:]
    pairs = [
        Pair(
            partial(outcome.plain, *args, **kwargs),
            partial(outcome.compiled, *args, **kwargs),
            partial(workload.around, index, workload.fn),
        )
        for index, args, kwargs in last
    ]
    samples, dropped = interleave(pairs, seed, lambda: session.misses)
    number = _region_called(outcome)
    yield as_fact(number, "interleaved calls", samples, dropped)
    given = [
        (args, kwargs, partial(workload.around, index, workload.fn)) for index, args, kwargs in last
    ]
    yield from _lookup(session, number, outcome.compiled, given, seed)


def _region_called(outcome: Outcome) -> int:
    """The region of a workload's callable; the first where this torch does not show it."""
    found = compiled(outcome.compiled)
    state = None if found is None else region_of(found.context)
    return 0 if state is None else state.fact.id


def opinions(last: LastCalls, regions: Iterable[int]) -> Iterator[Opinion]:
    """What torch's own instruments say of the last call of each region."""
    for region in regions:
        target, _context = last.held.get(region, (None, None))
        if target is None:
            continue
        args, kwargs, modes = last.kept[region][-1]
        yield opinion(region, target, partial(_called, args, kwargs, modes))


def _called(args: Any, kwargs: Any, modes: Modes, function: Any) -> Any:
    with modes.again():
        return function(*args, **kwargs)
