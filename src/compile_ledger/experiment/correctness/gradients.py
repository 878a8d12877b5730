"""Compares the gradients of compiled calls with those of copies that get the same gradients.

A backward pass of the program's is only looked at: while it runs, hooks on nodes of its
graph note what flows into each compared call and what comes out. Then eager and fp64
copies of the call, made before it ran, are given what flowed in.
"""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from compile_ledger.facts.agreement import GRADIENTS, Agreement, AgreementStatus

from .again import Recipe
from .error import NOISE_ONLY, Where, compare_gradient, relative_error
from .graph import OUTSIDE, Edge, Flow, Key, Part, edge_of, edges_of
from .leaves import tensors
from .snapshot import changeable

if TYPE_CHECKING:
    from compile_ledger.observe.hooks.backward import BackwardPass

_MOST = 8
"""Calls of a region whose graphs are held until their backward pass; then the oldest go."""
_SEEDS = range(3)
"""Noisy copies, run only where a gradient is further from fp64 than eager's error explains."""
_COMPILED = "the backward pass is compiled as well (compiled autograd): it is not looked into"
_MIXED = "what flows into this call's outputs cannot be told from what flows inside it"

Recipes = Recipe | str
"""How a call is made again, or why it cannot be."""


@dataclass(eq=False)
class Prepared:
    """A call that is about to run."""

    recipe: Recipes
    inputs: dict[str, Edge]
    hooked: frozenset[str]
    """Inputs with tensor hooks of the program's, which change what is passed on."""


@dataclass(eq=False)
class Waiting:
    """A call that has run, until backward passes reach it."""

    where: Where
    prepared: Prepared
    part: Part
    passes: int = 0


@dataclass
class Seen:
    """What hooks noted in one pass: the gradient along each watched edge."""

    flow: Flow
    along: dict[Key, Any] = field(default_factory=dict)

    def note(self, node: Any, numbers: set[int], grads: tuple[Any, ...]) -> None:
        """Keep copies of a node's incoming gradients; the node gets them as they are."""
        for number in numbers:
            if number < len(grads) and grads[number] is not None:
                self.along[id(node), number] = grads[number].detach().clone()


class Gradients:
    """Watches the backward passes of a compiled arm."""

    def __init__(self, write: Callable[[Agreement], None]) -> None:
        """Facts go to ``write``."""
        self.write = write
        self.waiting: list[Waiting] = []
        self._busy = threading.local()

    def prepare(self, target: Any, args: Any, kwargs: Any) -> Prepared | None:
        """Before a call: copies, and the edges of what it may read; None without autograd."""
        import torch

        if not torch.is_grad_enabled() or target is None:
            return None
        given = {p: t for p, t in changeable(target, args, kwargs).items() if t.requires_grad}
        if not given:
            return None
        hooked = frozenset(path for path, t in given.items() if t._backward_hooks)  # noqa: SLF001
        try:
            recipe: Recipes = Recipe.of(target, args, kwargs)
        except Exception as error:  # noqa: BLE001  no copy: no gradient is compared, and why
            recipe = f"no copy of the call: {error}"[:200]
        return Prepared(recipe, edges_of(given), hooked)

    def ran(self, where: Where, prepared: Prepared, called: Any, value: Any, why: str) -> None:
        """After a call; ``why``: why its gradients need not be looked at."""
        outputs = dict(tensors(value, "out")) | changeable(*called)
        part = Part(edges_of(outputs), prepared.inputs)
        if not part.outputs:
            return
        if why:
            prepared = dataclasses.replace(prepared, recipe=why)
        self.waiting.append(Waiting(where, prepared, part))
        same = [w for w in self.waiting if w.where.region == where.region]
        for old in same[:-_MOST]:
            self.waiting.remove(old)

    def begin(self, about: BackwardPass) -> Callable[[Any], None] | None:
        """A pass starts: hook the nodes of the compared calls that it reaches."""
        if not self.waiting or getattr(self._busy, "now", False):
            return None
        roots = [edge for edge in map(_root, about.roots) if edge is not None]
        flow = Flow(roots, (w.part for w in self.waiting))
        reached = [w for w in self.waiting if w.part in flow.reached()]
        if not reached:
            return None
        for call in reached:
            call.passes += 1
        if about.compiled:
            self._leave_out(reached, _COMPILED)
            return None
        seen = Seen(flow)
        stack = ExitStack()
        for node, numbers in _watched(reached):
            handle = node.register_prehook(partial(seen.note, node, numbers))
            stack.callback(handle.remove)
        return partial(self._end, about, seen, reached, stack)

    def _end(
        self, about: BackwardPass, seen: Seen, reached: list[Waiting], stack: ExitStack, value: Any
    ) -> None:
        stack.close()
        for given, grad in zip(about.inputs, value or (), strict=False):
            edge = _root(given)
            if edge is not None and grad is not None:
                seen.along[edge.key] = grad.detach()
        if not about.retains:
            self.waiting = [w for w in self.waiting if w not in reached]
        self._busy.now = True
        try:
            Pass(seen, reached, whole=not about.inputs, write=self.write).compare()
        finally:
            self._busy.now = False

    def _leave_out(self, calls: list[Waiting], why: str) -> None:
        for call in calls:
            self.write(_not_compared(call, why))
            self.waiting.remove(call)


def _root(value: Any) -> Edge | None:
    """The edge of a tensor, or of what names an edge already."""
    if hasattr(value, "node"):
        return Edge(value.node, value.output_nr, None)
    return edge_of(value) if value.requires_grad else None


def _watched(calls: list[Waiting]) -> Iterator[tuple[Any, set[int]]]:
    found: dict[int, tuple[Any, set[int]]] = {}
    for call in calls:
        for edge in (*call.part.outputs.values(), *call.part.inputs.values()):
            found.setdefault(id(edge.node), (edge.node, set()))[1].add(edge.number)
    yield from found.values()


def _leaf(call: Waiting, name: str) -> Where:
    again = f", backward pass {call.passes}" if call.passes > 1 else ""
    return dataclasses.replace(call.where, leaf=f"{name}{again}")


def _not_compared(call: Waiting, why: str) -> Agreement:
    where = _leaf(call, GRADIENTS)
    return Agreement(where.region, where.call, where.leaf, "not_compared", why=why)


@dataclass
class Sides:
    """Gradients of one tensor: of the compiled calls, and of copies that stand for eager."""

    compiled: Any
    eager: Any
    reference: Callable[[], Any]
    noisy: Callable[[], list[float]]


@dataclass
class Pass:
    """One backward pass that has ended, and the compared calls that it reached."""

    seen: Seen
    reached: list[Waiting]
    whole: bool
    """Whether gradients were asked of every leaf."""
    write: Callable[[Agreement], None]
    given: dict[Part, dict[str, Any]] = field(default_factory=dict)
    """What flowed into each call that can be made again, by output."""
    fp64: dict[Part, dict[str, Any]] = field(default_factory=dict)
    """The referee's, by call: made only where the bits of eager and compiled differ."""
    noisy: dict[tuple[Part, int], dict[str, Any]] = field(default_factory=dict)

    def compare(self) -> None:
        """Compare the gradients of each call; what several calls share, under the last one."""
        for call in self.reached:
            why = self._flowed_in(call)
            if why:
                self.write(_not_compared(call, why))
        calls = [call for call in self.reached if call.part in self.given]
        eager = {c.part: self._again(c, double=False) for c in calls}
        for call in calls:
            self._compare_call(call, calls, eager)

    def _flowed_in(self, call: Waiting) -> str:
        """Note what flowed into a call; why that cannot be used, where it cannot."""
        if isinstance(call.prepared.recipe, str):
            return call.prepared.recipe
        edges = self.seen.flow.given(call.part)
        if edges is None:
            return _MIXED
        found = {p: self.seen.along[e.key] for p, e in edges.items() if e.key in self.seen.along}
        if not all(bool(grad.isfinite().all()) for grad in found.values()):
            return "what flowed into it was not finite"
        self.given[call.part] = found
        return ""

    def _again(self, call: Waiting, *, double: bool, noise: int | None = None) -> dict[str, Any]:
        recipe = call.prepared.recipe
        if isinstance(recipe, str):
            return {}
        return recipe.gradients(self.given[call.part], double=double, noise=noise)

    def _compare_call(self, call: Waiting, calls: list[Waiting], eager: Any) -> None:
        agreed: list[Agreement] = []
        shared: list[str] = []
        for path, edge in call.part.inputs.items():
            senders = self.seen.flow.senders.get(edge.key, {call.part})
            of = [c for c in calls if c.part in senders]
            if of and of[-1] is not call:
                continue
            if OUTSIDE in senders or len(of) < len(senders) or path in call.prepared.hooked:
                shared.append(path)
                continue
            compiled = self.seen.along.get(edge.key)
            if compiled is None and not self.whole:
                continue
            paths = [(c, _path_of(c.part, edge)) for c in of]
            referee, noise = partial(self._referee, paths), partial(self._noise, paths)
            sides = Sides(compiled, _sum(eager, paths), referee, noise)
            found = _compared(_leaf(call, f"gradient of {_said(path)}"), sides)
            if found is not None:
                agreed.append(found)
        self._tell(call, agreed, shared)

    def _referee(self, paths: list[tuple[Waiting, str]]) -> Any:
        """The same gradient in fp64."""
        for call, _ in paths:
            if call.part not in self.fp64:
                self.fp64[call.part] = self._again(call, double=True)
        return _sum(self.fp64, paths)

    def _noise(self, paths: list[tuple[Waiting, str]]) -> list[float]:
        """Errors of the same gradient where inputs and weights are moved by some roundings."""
        reference, found = self._referee(paths), []
        for seed in _SEEDS:
            for call, _ in paths:
                if (call.part, seed) not in self.noisy:
                    again = self._again(call, double=False, noise=seed)
                    self.noisy[call.part, seed] = again
            moved = _sum({c.part: self.noisy[c.part, seed] for c, _ in paths}, paths)
            if moved is not None and reference is not None:
                found.append(relative_error(moved, reference))
        return found

    def _tell(self, call: Waiting, found: list[Agreement], shared: list[str]) -> None:
        """What differs, each apart; what agrees, and what is left out, in one line each."""
        agreed = [one for one in found if one.status != "differs"]
        for one in found:
            if one.status == "differs":
                self.write(one)
        if agreed:
            worst = max(agreed, key=_badness)
            same = all(one.status == "equal" for one in agreed)
            status: AgreementStatus = "equal" if same else "within"
            leaf = _leaf(call, GRADIENTS).leaf
            self.write(dataclasses.replace(worst, leaf=leaf, status=status, leaves=len(agreed)))
        if shared and not found:
            names = ", ".join(_said(path) for path in shared[:3])
            self.write(_not_compared(call, f"also reached from outside the region: {names}"))


def _badness(found: Agreement) -> float:
    """The error; what is rounding on both sides has none to speak of."""
    noise = found.error_eager is not None and found.error_eager >= NOISE_ONLY
    return -1.0 if noise else found.error_compiled or 0.0


def _compared(where: Where, sides: Sides) -> Agreement | None:
    """Compare one gradient; None where neither side has one."""
    if sides.compiled is None and sides.eager is None:
        return None
    if sides.compiled is None or sides.eager is None:
        there = sides.compiled if sides.eager is None else sides.eager
        if not bool(there.any()):
            return None  # No gradient, or one of zeros: a step is the same.
        has, lacks = ("compiled", "eager") if sides.eager is None else ("eager", "compiled")
        why = f"{has} has a gradient, {lacks} has none"
        return Agreement(where.region, where.call, where.leaf, "differs", why=why)
    return compare_gradient(where, sides.eager, sides.compiled, sides.reference, sides.noisy)


def _sum(sides: Any, paths: list[tuple[Waiting, str]]) -> Any:
    """The gradient that several calls give together; None where none gives one."""
    found = [sides[call.part].get(path) for call, path in paths]
    there = [grad for grad in found if grad is not None]
    return sum(there[1:], there[0]) if there else None


def _path_of(part: Part, edge: Edge) -> str:
    return next(path for path, own in part.inputs.items() if own.key == edge.key)


def _said(path: str) -> str:
    """A tensor as the program has it: ``net.0.weight``, ``args[0]``."""
    return path.removeprefix("state ").removeprefix("mutated ")
