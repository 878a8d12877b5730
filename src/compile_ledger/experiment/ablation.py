"""What breaks cost: calls as they are against calls without what one change removes.

Both run in one process, so that what disturbs one disturbs the other: two processes
would have to be compared by unpaired times, whose noise is twenty times larger. After
the program has ended, each region is compiled once more under the change's settings,
beside what the program compiled, and its last calls are replayed both ways. Settings
are read while Dynamo traces, so they are put back before anything is timed.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from compile_ledger.facts.timing import Ablation
from compile_ledger.observe.capabilities import MissingError
from compile_ledger.observe.second import forget_skips, graph_runs, isolates, second_context
from compile_ledger.observe.settings import changed_settings

from .last_calls import LastCalls
from .met import put_back
from .spec import Removal
from .steady_state import Pair, Samples, interleave

if TYPE_CHECKING:
    from compile_ledger.observe.recording.session import Session

_WARM = 3
"""Calls with each set of inputs before anything is timed: compile, settle, run."""


def ablate(last: LastCalls, session: Session, removal: Removal, seed: int) -> Iterator[Ablation]:
    """One fact for each region that was called."""
    for region in removal.regions:
        if not last.of(region):
            continue
        try:
            yield _ablated(region, last, session, removal, seed)
        except Exception as error:  # noqa: BLE001  the changed program may raise anything
            why = str(error) if isinstance(error, MissingError) else _named(error)
            yield Ablation(region, removal.experiment, removal.change, why=why)


def _named(error: Exception) -> str:
    first = (str(error).splitlines() or [""])[0][:200]
    return f"with the change it raised {type(error).__name__}: {first}"


def _ablated(
    region: int, last: LastCalls, session: Session, removal: Removal, seed: int
) -> Ablation:
    pairs = _pairs(region, last, session, removal)
    for pair in pairs:
        _repeat(pair, pair.first)
    graphs = _graphs(session, [(pair, pair.first) for pair in pairs])
    without = _graphs(session, [(pair, pair.second) for pair in pairs])
    if graphs == without:
        msg = "with the workload's own backend the change does not make fewer graphs"
        raise MissingError(msg)
    samples, dropped = interleave(pairs, seed, lambda: session.misses)
    return _as_fact(
        Ablation(region, removal.experiment, removal.change, graphs, without), samples, dropped
    )


def _pairs(region: int, last: LastCalls, session: Session, removal: Removal) -> list[Pair]:
    """The last calls both ways, the second compiled under the change."""
    target, context = last.held.get(region, (None, None))
    if target is None or context is None:
        msg = "what was compiled is gone"
        raise MissingError(msg)
    if forget_skips(session) and not isolates(context):
        msg = "this torch cannot keep a skipped function beside its compiled form"
        raise MissingError(msg)
    broken, mended = context(target), second_context(context)(target)
    pairs = [
        Pair(
            partial(broken, *one.args, **one.kwargs),
            partial(mended, *one.args, **one.kwargs),
            one.around,
            partial(put_back, one.state),
        )
        for one in last.of(region)
    ]
    with changed_settings(removal.settings):
        for pair in pairs:
            _repeat(pair, pair.second)
    return pairs


def _repeat(pair: Pair, thunk: Callable[[], Any]) -> None:
    for _ in range(_WARM):
        with pair.around():
            thunk()


def _graphs(session: Session, calls: list[tuple[Pair, Callable[[], Any]]]) -> float:
    """Graphs per call, on average over one call of each."""
    before = graph_runs(session)
    for pair, thunk in calls:
        with pair.around():
            thunk()
    return (graph_runs(session) - before) / len(calls)


def _as_fact(found: Ablation, samples: Samples, dropped: int) -> Ablation:
    import torch

    return dataclasses.replace(
        found,
        broken=tuple(samples.cpu["first"]),
        broken_again=tuple(samples.cpu["again"]),
        without=tuple(samples.cpu["second"]),
        wall_broken=tuple(samples.wall["first"]),
        wall_without=tuple(samples.wall["second"]),
        threads=torch.get_num_threads(),
        dropped=dropped,
    )
