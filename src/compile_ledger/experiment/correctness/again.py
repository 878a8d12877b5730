"""A region's call made again on copies, with gradients: eager, in fp64, or with noise."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from compile_ledger.experiment.met import Modes

from .graph import edges_of
from .leaves import tensors
from .snapshot import changeable
from .twin import NoTwinError, Twin, require_copyable

NOISE = 16.0
"""Rounding steps by which noise moves inputs and parameters: the floor of the error rule."""
_HALF_NOISE = 2.0
"""The same in half precision, where 16 steps are an eighth of the value."""


@dataclass(frozen=True)
class Recipe:
    """What a call needs to be made again: copies from before it, random state, modes."""

    target: Any
    args: Any
    states: tuple[Any, Any]
    modes: Modes
    eps: float
    """The rounding step of what it computes in."""

    @staticmethod
    def of(target: Any, args: Any, kwargs: Any) -> Recipe:
        """Copy what a call is about to find. Raises :class:`NoTwinError`."""
        require_copyable(target)
        _refuse_hooks(target)
        twin = Twin(double=False, grads=True)
        modes = Modes.now()
        copy = twin.target(target)
        given = twin.value((args, kwargs))
        return Recipe(copy, given, _random_states(), modes, _eps(copy, given, modes))

    def gradients(
        self, cotangents: Mapping[str, Any], *, double: bool, noise: int | None = None
    ) -> dict[str, Any]:
        """Gradients by path for those of the outputs; ``noise`` seeds moved inputs and weights."""
        import torch

        twin = Twin(double=double, grads=True)
        with _as_it_was(self):
            function = twin.target(self.target)
            args, kwargs = twin.value(self.args)
            named = changeable(function, args, kwargs)
            if noise is not None:
                _move(named, self.eps, noise)
            edges = edges_of(named)
            value = function(*args, **kwargs)
        found = dict(tensors(value, "out")) | changeable(function, args, kwargs)
        outs = [found[path] for path in cotangents]
        grads = [g.to(out.dtype) for g, out in zip(cotangents.values(), outs, strict=True)]
        wanted = [torch.autograd.graph.GradientEdge(e.node, e.number) for e in edges.values()]
        given = torch.autograd.grad(outs, wanted, grads, allow_unused=True) if wanted else ()
        return {path: g.detach() for path, g in zip(edges, given, strict=True) if g is not None}


def _refuse_hooks(target: Any) -> None:
    """Backward hooks of the program's would run once more for each copy."""
    import torch

    owner = target if isinstance(target, torch.nn.Module) else getattr(target, "__self__", None)
    parts = owner.modules() if isinstance(owner, torch.nn.Module) else ()
    if any(part._backward_hooks or part._backward_pre_hooks for part in parts):  # noqa: SLF001
        msg = "a backward hook of the program's would run once more"
        raise NoTwinError(msg)


def _random_states() -> tuple[Any, Any]:
    import torch

    return torch.get_rng_state(), random.getstate()


@contextmanager
def _as_it_was(recipe: Recipe) -> Iterator[None]:
    """Random states and modes of the call; afterwards those of now."""
    import torch

    now = random.getstate()
    with torch.random.fork_rng(), recipe.modes.again():
        torch.set_rng_state(recipe.states[0])
        random.setstate(recipe.states[1])
        try:
            yield
        finally:
            random.setstate(now)


def _eps(target: Any, given: Any, modes: Modes) -> float:
    import torch

    found = changeable(target, *given).values()
    kinds = {t.dtype for t in found if t.is_floating_point()}
    kinds |= {dtype for _, on, dtype in modes.autocast if on and dtype is not None}
    steps = [float(torch.finfo(kind).eps) for kind in kinds]
    return max(steps, default=float(torch.finfo(torch.float32).eps))


def _move(named: Mapping[str, Any], eps: float, seed: int) -> None:
    """Move every float by up to some rounding steps of its own, at random."""
    import torch

    steps = NOISE if eps < 1e-5 else _HALF_NOISE  # noqa: PLR2004  between fp32's eps and fp16's
    source = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for tensor in named.values():
            if tensor.is_floating_point() and tensor.layout == torch.strided:
                with suppress(RuntimeError):
                    noise = torch.rand(tensor.shape, generator=source) * 2 - 1
                    tensor.mul_(1 + steps * eps * noise.to(tensor))
