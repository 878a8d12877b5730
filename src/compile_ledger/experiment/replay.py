"""Steady-state timing of an arm's regions, after the program itself has ended.

The last calls of each region are made again, eager and compiled in turn, as the program
made them: in its modes of grad, inference and autocast, with the flags and the Python
state that its modules and objects had, on copies of what was given. Where the program
ran a backward pass through a call's result, the replayed call runs it too, with the
gradients that the program's own had. What stands outside the region (the loss, an
optimizer's step) costs the same both ways and is not replayed.

Calls of one region in different modes (training and evaluation) are timed apart, and
weigh what their share of the stream is.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from compile_ledger.facts.opinion import Opinion
from compile_ledger.facts.timing import GuardLookup, SteadyState
from compile_ledger.observe.compiled import compiled
from compile_ledger.observe.hooks.regions import region_of, remove_hooks
from compile_ledger.observe.opinions import opinion
from compile_ledger.observe.second import graph_runs

from .correctness.leaves import tensors
from .guard_cost import guard_lookup
from .last_calls import LAST, Kept, Kind, LastCalls, usual_kinds
from .met import Contents, Copier, Reached, put_back
from .steady_state import BUDGET_NS, Pair, Thunk, as_fact, interleave
from .subject import Outcome

if TYPE_CHECKING:
    from compile_ledger.observe.recording.session import Session


class Replayed:
    """One kept call, made again both ways."""

    def __init__(self, kept: Kept, target: Any, compiled: Any, contents: Contents) -> None:
        """Make the copies that it runs on."""
        self.kept = kept
        self.target, self.compiled = target, compiled
        self.contents = contents
        self.parameters = kept.reached.parameters() if kept.bare else []
        self.fresh = False
        """Whether each call needs copies of its own, because it changes what it is given."""
        self._copy()

    def _copy(self) -> None:
        self.args, self.kwargs = Copier(self.kept.reached.modules).value(
            (self.kept.args, self.kept.kwargs)
        )

    def pair(self) -> Pair:
        """What is timed."""
        then = self.backward if self.kept.gradients else None
        return Pair(
            self._eagerly, self._compiled, self.kept.around, self.ready, then, eager=True
        )  # fmt: skip

    def _eagerly(self) -> Any:
        return self.target(*self.args, **self.kwargs)

    def _compiled(self) -> Any:
        return self.compiled(*self.args, **self.kwargs)

    def ready(self) -> None:
        """Everything as the program's call met it."""
        put_back(self.kept.state)
        self.contents.put_back()
        if self.fresh:
            self._copy()
        for parameter in self.parameters:
            parameter.grad = None

    def backward(self, value: Any) -> Thunk:
        """The backward pass through a result, with the program's gradients."""
        import torch

        found = tensors(value)
        wanted = {place: found[place][1] for place in self.kept.gradients}
        through, given = list(wanted.values()), list(self.kept.gradients.values())
        plain = getattr(torch.autograd.backward, _PLAIN, torch.autograd.backward)
        return partial(plain, through, given)

    def refused(self, session: Session, inside: set[str]) -> str:
        """Why its times would not be those of the program's call; empty when they are.

        Adds to ``inside`` what of a training step the call holds.
        """
        pair, before = self.pair(), _state_of(self.args, self.kwargs)
        try:
            with _steps_seen(inside):
                pair.run("first")
            self.fresh = _state_of(self.args, self.kwargs) != before
            misses, runs, late = session.misses, graph_runs(session), _late_runs(session)
            pair.run("second")
            ran = graph_runs(session) - runs
            self.fresh = self.fresh or _state_of(self.args, self.kwargs) != before
        except Exception as error:  # noqa: BLE001  the user's code may raise anything
            first = (str(error).splitlines() or [""])[0][:120]
            return f"made again, it raised {type(error).__name__}: {first}"
        if session.misses != misses or _late_runs(session) != late:
            return f"made again, it compiled anew{_refusing(session)}"
        if self.kept.graphs and not ran:
            return "made again, it ran no graph"
        return ""


_PLAIN = "compile_ledger_plain"
"""The attribute of a stand-in for ``torch.autograd.backward`` that holds the original."""


def _state_of(args: Any, kwargs: Any) -> list[Any]:
    """What a call can change of what it is given: sizes, versions, lengths."""
    return [
        (path, tuple(leaf.shape), 0 if leaf.is_inference() else leaf._version)  # noqa: SLF001
        for path, leaf in tensors((args, kwargs))
    ]


def _late_runs(session: Session) -> int:
    """Runs of entries that were made since calls are made again: the program has none such."""
    late = session.calls.late if session.calls is not None else []
    made = {(fact.code_object, fact.compile_id) for fact in late}
    return sum(e.runs for e in session.entries if (e.code_object, e.compile_id) in made)


def _refusing(session: Session) -> str:
    """The guard that refused a replayed call, as the runtime words it."""
    late = session.calls.late if session.calls is not None else []
    reasons = [reason for fact in late for reason in fact.reasons]
    return f": {reasons[-1].splitlines()[0][:160]}" if reasons else ""


Timed = SteadyState | GuardLookup


def replay_program(last: LastCalls, session: Session, seed: int) -> Iterator[Timed]:
    """Interleave the last calls of each region of a program that has ended."""
    for region in session.regions:
        context = None if region.context is None else region.context()
        if context is not None:
            remove_hooks(context)
    groups = [(number, kind) for number in last.kept for kind in usual_kinds(last.counts[number])]
    every = sum(sum(last.counts[n].values()) for n in last.kept)
    looked = set()
    for number, kind in groups:
        share = last.counts[number][kind] / every
        budget = int(BUDGET_NS * max(share, 0.3 / len(groups)))
        kept = last.kept[number][kind]
        found = session.contained(_replay, last, session, (number, kind), seed, budget)
        yield found or SteadyState(number, _design(kept, set()), why="replaying the calls failed")
        if found and not found.why and number not in looked:
            looked.add(number)
            target, context = last.held[number]
            given = [(one.args, one.kwargs, one.around) for one in last.of(number)]
            yield from _lookup(session, number, context(target), given, seed)


def _replay(
    last: LastCalls, session: Session, which: tuple[int, Kind], seed: int, budget: int
) -> SteadyState:
    """Time the last calls of one kind of one region."""
    number, kind = which
    kept = last.kept[number][kind]
    share = last.counts[number][kind] / sum(last.counts[number].values())
    target, context = last.held.get(number, (None, None))
    if target is None or context is None:
        return SteadyState(
            number, _design(kept, set()), share=share, why="what was compiled is gone"
        )
    contents = kept[-1].reached.contents()
    calls = [Replayed(one, target, context(target), contents) for one in _whole(kept)]
    return _timed(number, calls, session, seed, budget=budget, share=share)


def _whole(kept: list[Kept]) -> list[Kept]:
    """The calls without the last one where the program was ended before its backward pass."""
    last = kept[-1]
    cut = last.trains and not last.gradients and any(one.gradients for one in kept)
    return kept[:-1] if cut else kept


def _timed(  # noqa: PLR0913  what is timed, and how
    number: int,
    calls: list[Replayed],
    session: Session,
    seed: int,
    *,
    design: str = "",
    budget: int = BUDGET_NS,
    share: float = 1.0,
) -> SteadyState:
    """Interleave those of the calls that meet again what they met."""
    inside: set[str] = set()
    refused = {call: call.refused(session, inside) for call in calls}
    design = design or _design([call.kept for call in calls], inside)
    left_out = tuple(why for why in refused.values() if why)
    pairs = [call.pair() for call, why in refused.items() if not why]
    if not pairs:
        why = f"none of the last {len(calls)} calls could be timed: {left_out[-1]}"
        return SteadyState(number, design, share=share, left_out=left_out, why=why)
    samples, dropped = interleave(pairs, seed, lambda: session.misses, budget)
    calls[0].contents.put_back()
    fact = as_fact(number, design, samples, dropped)
    return dataclasses.replace(fact, share=share, left_out=left_out)


def _design(kept: list[Kept], inside: set[str]) -> str:
    """What of the program was replayed, in words."""
    if inside:
        return f"replayed calls, {' and '.join(sorted(inside))} inside"
    if any(one.gradients for one in kept):
        return "replayed calls, forward and backward"
    if any(one.trains for one in kept):
        return "replayed calls, forward only"
    return "replayed calls"


@contextmanager
def _steps_seen(seen: set[str]) -> Iterator[None]:
    """Notes whether an eager call runs a backward pass or an optimizer's step by itself."""
    import torch
    from torch.optim.optimizer import register_optimizer_step_post_hook

    plain = torch.autograd.backward

    def backward(*args: Any, **kwargs: Any) -> Any:
        seen.add("the backward pass")
        return plain(*args, **kwargs)

    setattr(backward, _PLAIN, plain)
    handle = register_optimizer_step_post_hook(lambda *_: seen.add("the optimizer's step"))
    torch.autograd.backward = backward
    try:
        yield
    finally:
        torch.autograd.backward = plain
        handle.remove()


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

    last = outcome.calls[-LAST:]
    reached = Reached(workload.fn, ())
    state, contents = reached.python_state(), reached.contents()
    calls = []
    for index, args, kwargs in last:
        around = partial(workload.around, index, workload.fn)
        kept = Kept(args, kwargs, around, reached, state)
        calls.append(Replayed(kept, outcome.plain, outcome.compiled, contents))
    number = _region_called(outcome)
    yield _timed(number, calls, session, seed, design="interleaved calls")
    given = [(args, kwargs, partial(workload.around, i, workload.fn)) for i, args, kwargs in last]
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
        yield opinion(region, target, partial(_called, last.of(region)[-1]))


def _called(kept: Kept, function: Any) -> Any:
    with kept.around():
        return function(*kept.args, **kept.kwargs)
