"""Steady-state timing of an arm's regions, after the program itself has ended."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from compile_ledger.facts.timing import GuardLookup, SteadyState
from compile_ledger.observe.call_view import arguments

from .correctness.twin import Twin
from .guard_cost import guard_lookup
from .steady_state import Thunk, as_fact, interleave
from .subject import Outcome

if TYPE_CHECKING:
    from compile_ledger.facts.calls import Call
    from compile_ledger.observe.calls import OpenCall
    from compile_ledger.observe.session import Session

_LAST = 4


class LastCalls:
    """A watcher that keeps copies of the arguments of each region's last calls.

    It also keeps what was compiled alive, which would be gone when the program ends.
    """

    def __init__(self) -> None:
        """Keep nothing yet."""
        self.kept: dict[int, list[tuple[Any, Any, tuple[bool, bool]]]] = {}
        self.held: dict[int, tuple[Any, Any]] = {}
        """Region to its target and to the runtime's context of it."""

    def before(self, call: OpenCall) -> None:
        """Copy the arguments of an outermost call."""
        import torch

        given = arguments(call.frame)
        if call.depth or given is None:
            return
        region = call.region
        modes = (torch.is_grad_enabled(), torch.is_inference_mode_enabled())
        kept = self.kept.setdefault(region.fact.id, [])
        kept.append((*Twin(double=False).value(given), modes))
        del kept[:-_LAST]
        if region.fact.id not in self.held and region.context is not None:
            self.held[region.fact.id] = (region.target(), region.context())

    def after(self, call: OpenCall, fact: Call) -> None:
        """Nothing is needed after a call."""


@contextmanager
def _modes(modes: tuple[bool, bool]) -> Iterator[None]:
    import torch

    with torch.inference_mode(modes[1]), torch.set_grad_enabled(modes[0]):
        yield


Timed = SteadyState | GuardLookup


def replay_program(last: LastCalls, session: Session, seed: int) -> Iterator[Timed]:
    """Interleave the last calls of each region of a program that has ended."""
    for number, kept in last.kept.items():
        target, context = last.held.get(number, (None, None))
        if target is None or context is None:
            yield SteadyState(number, "replayed calls", why="what was compiled is gone")
            continue
        compiled = context(target)
        pairs = [(_under(target, call), _under(compiled, call)) for call in kept]
        samples, dropped = interleave(pairs, seed, lambda: session.misses)
        yield as_fact(number, "replayed calls, forward only", samples, dropped)
        given = [(args, kwargs, partial(_modes, modes)) for args, kwargs, modes in kept]
        yield from _lookup(session, number, compiled, given, seed)


def _under(function: Any, call: tuple[Any, Any, tuple[bool, bool]]) -> Thunk:
    args, kwargs, modes = call

    def thunk() -> Any:
        with _modes(modes):
            return function(*args, **kwargs)

    return thunk


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

    def around(function: Any, call: Any) -> Thunk:
        index, args, kwargs = call

        def thunk() -> Any:
            with workload.around(index, workload.fn):
                return function(*args, **kwargs)

        return thunk

    last = outcome.calls[-_LAST:]
    pairs = [(around(workload.fn, call), around(outcome.compiled, call)) for call in last]
    samples, dropped = interleave(pairs, seed, lambda: session.misses)
    yield as_fact(0, "interleaved calls", samples, dropped)
    given = [
        (args, kwargs, partial(workload.around, index, workload.fn)) for index, args, kwargs in last
    ]
    yield from _lookup(session, 0, outcome.compiled, given, seed)
