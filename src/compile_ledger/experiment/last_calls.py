"""Keeps what it takes to make the last calls of each region again, while a program runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from compile_ledger.observe.recording.call_view import arguments, result
from compile_ledger.observe.settings import compiled_autograd_on

from .correctness.leaves import tensors
from .met import Copier, Modes, Reached

if TYPE_CHECKING:
    from compile_ledger.facts.calls import Call
    from compile_ledger.observe.recording.calls import OpenCall

LAST = 4
"""Calls of each kind that are kept."""
_MOST_KINDS = 4
_FEWEST_OF_A_KIND = 0.05
"""A kind of call with a smaller share of the stream is not timed."""

Kind = tuple[Modes, tuple[bool, ...]]
"""The modes of a call, and the ``training`` flags of the modules that it reaches."""


@dataclass(eq=False)
class Kept:
    """One call, as it can be made again."""

    args: Any
    kwargs: Any
    around: Callable[[], AbstractContextManager[Any]]
    reached: Reached
    state: list[tuple[Any, Any]]
    bare: bool = False
    """Whether no parameter had a gradient when it began; when its backward pass did, if any."""
    graphs: int | None = None
    gradients: dict[int, Any] = field(default_factory=dict)
    """What the program's backward pass came with, by the place of a tensor in the result."""
    trains: bool = False
    """Whether its result asks for a gradient."""


class LastCalls:
    """A watcher that keeps copies of each region's last calls, of each kind.

    It also keeps what was compiled alive, which would be gone when the program ends.
    """

    def __init__(self) -> None:
        """Keep nothing yet."""
        self.kept: dict[int, dict[Kind, list[Kept]]] = {}
        self.counts: dict[int, Counter[Kind]] = {}
        self.held: dict[int, tuple[Any, Any]] = {}
        """Region to its target and to the runtime's context of it."""
        self._last: dict[int, list[Kept]] = {}
        self._reached: dict[int, Reached] = {}

    def of(self, region: int) -> list[Kept]:
        """The region's last calls, of whatever kind."""
        return self._last.get(region, [])

    def before(self, call: OpenCall) -> None:
        """Copy the arguments of an outermost call."""
        given = arguments(call.frame)
        if call.depth or given is None:
            return
        number = call.region.fact.id
        if number not in self.held and call.region.context is not None:
            self.held[number] = (call.region.target(), call.region.context())
        if number not in self._reached:
            every = (*given[0], *given[1].values())
            self._reached[number] = Reached(call.region.target(), every)
        self._keep(number, given, self._reached[number])

    def _keep(self, number: int, given: tuple[Any, Any], reached: Reached) -> None:
        modes = Modes.now()
        args, kwargs = Copier(reached.modules).value(given)
        bare = all(p.grad is None for p in reached.parameters())
        one = Kept(args, kwargs, modes.again, reached, reached.python_state(), bare)
        kind = (modes, reached.training())
        self.counts.setdefault(number, Counter())[kind] += 1
        for kept in (self.kept.setdefault(number, {}).setdefault(kind, []),
                     self._last.setdefault(number, [])):  # fmt: skip
            kept.append(one)
            del kept[:-LAST]

    def after(self, call: OpenCall, fact: Call) -> None:
        """Listen to the backward pass through an outermost call's result."""
        kept = self.of(fact.region)
        if call.depth or not kept:
            return
        one = kept[-1]
        one.graphs = fact.graphs
        for place, (_, tensor) in enumerate(tensors(result(call.frame))):
            node = tensor.grad_fn
            if node is not None:
                one.trains = True
                if not compiled_autograd_on():
                    node.register_prehook(partial(_note, one, place, tensor.output_nr))


def _note(one: Kept, place: int, output: int, gradients: tuple[Any, ...]) -> None:
    gradient = gradients[output] if output < len(gradients) else None
    if gradient is not None:
        if not one.gradients:
            one.bare = all(p.grad is None for p in one.reached.parameters())
        one.gradients[place] = gradient.detach().clone()


def usual_kinds(counts: Counter[Kind]) -> list[Kind]:
    """The usual kinds of calls, the most frequent first."""
    total = sum(counts.values())
    most = counts.most_common(_MOST_KINDS)
    return [kind for kind, n in most if n >= _FEWEST_OF_A_KIND * total]
