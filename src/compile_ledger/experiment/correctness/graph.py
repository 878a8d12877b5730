"""What of a backward pass belongs to which region call: walks over the autograd graph.

A call's part of the graph lies between its outputs and what it was given. A gradient
can be compared with that of a copy of the call only where nothing else flows into it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

Key = tuple[int, int]
"""A node by identity, and which of its gradients: an edge, while the node is held."""


@dataclass(frozen=True)
class Edge:
    """Where the gradient of a tensor is passed on."""

    node: Any
    number: int
    owner: Any
    """A node that keeps the graph alive: those that Python made do not."""

    @property
    def key(self) -> Key:
        """The edge as something to look up."""
        return id(self.node), self.number


def edge_of(tensor: Any) -> Edge:
    """The gradient edge of a tensor that requires a gradient."""
    import torch

    with torch.enable_grad():
        owner = tensor.view_as(tensor).grad_fn
    node, number = owner.next_functions[0]
    return Edge(node, number, owner)


def edges_of(named: Mapping[str, Any]) -> dict[str, Edge]:
    """The edges of those tensors that require a gradient, by path."""
    return {path: edge_of(t) for path, t in named.items() if t.requires_grad}


def _next(node: Any) -> Iterator[tuple[Any, Key]]:
    for following, number in node.next_functions:
        if following is not None:
            yield following, (id(following), number)


@dataclass(eq=False)
class Part:
    """One call's part of the graph."""

    outputs: dict[str, Edge]
    inputs: dict[str, Edge]
    """Of arguments, parameters and whatever else it could read."""
    inside: dict[int, Any] = field(default_factory=dict)
    """Its nodes by identity, held so that identities stay."""

    def __post_init__(self) -> None:
        """Walk from the outputs to the inputs."""
        ends = {edge.key for edge in self.inputs.values()}
        self.outputs = {p: e for p, e in self.outputs.items() if e.key not in ends}
        left = [edge.node for edge in self.outputs.values()]
        while left:
            node = left.pop()
            if id(node) in self.inside or type(node).__name__ == "AccumulateGrad":
                continue
            self.inside[id(node)] = node
            left += [following for following, key in _next(node) if key not in ends]


OUTSIDE = None
"""Who sends a gradient that comes from no call's part."""


class Flow:
    """Who sends gradients along which edges in one backward pass."""

    def __init__(self, roots: Iterable[Edge], parts: Iterable[Part]) -> None:
        """Walk the whole graph of the pass once."""
        self.parts = tuple(parts)
        self.senders: dict[Key, set[Part | None]] = {}
        self.entered: set[Part] = set()
        """Parts that a gradient enters otherwise than by an output: nothing is known of them."""
        edges = (e for p in self.parts for e in (*p.outputs.values(), *p.inputs.values()))
        self._watched = {edge.key for edge in edges}
        self._owners: dict[int, set[Part]] = {}
        for part in self.parts:
            for node in part.inside:
                self._owners.setdefault(node, set()).add(part)
        self._walk(list(roots))

    def _walk(self, roots: list[Edge]) -> None:
        seen: dict[int, Any] = {}
        left = []
        for root in roots:
            self._arrive(set(), root.key)
            left.append(root.node)
        while left:
            node = left.pop()
            if id(node) in seen:
                continue
            seen[id(node)] = node
            owners = self._owners.get(id(node), set())
            for following, key in _next(node):
                self._arrive(owners, key)
                left.append(following)

    def _arrive(self, senders: set[Part], key: Key) -> None:
        if key in self._watched:
            self.senders.setdefault(key, set()).update(senders or {OUTSIDE})
        inside = self._owners.get(key[0], set())
        if inside and not senders & inside:
            self.entered |= {p for p in inside if key not in {e.key for e in p.outputs.values()}}

    def reached(self) -> list[Part]:
        """The parts that some gradient flows into."""
        return [p for p in self.parts if any(e.key in self.senders for e in p.outputs.values())]

    def given(self, part: Part) -> dict[str, Edge] | None:
        """The outputs of ``part`` that receive gradients from outside it, each edge once.

        None where what comes from outside cannot be told from what comes from inside.
        """
        found: dict[Key, tuple[str, Edge]] = {}
        if part in self.entered:
            return None
        for path, edge in part.outputs.items():
            senders = self.senders.get(edge.key, set())
            if not senders - {part}:
                continue
            if part in senders:
                return None
            found.setdefault(edge.key, (path, edge))
        return dict(found.values())
