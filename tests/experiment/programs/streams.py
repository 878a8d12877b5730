"""Regions whose calls meet every fate."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable

import torch


def settles(x: torch.Tensor) -> torch.Tensor:
    return x.sin() + 1


def grows(x: torch.Tensor) -> torch.Tensor:
    return x.cos() + 1


def off_later(x: torch.Tensor, identity: bool) -> torch.Tensor:  # noqa: FBT001
    return x if identity else x * 2


def raises_once(x: torch.Tensor, allowed: int) -> torch.Tensor:
    if x.shape[0] > allowed:
        msg = "too long"
        raise ValueError(msg)
    return x - 1


def inner(x: torch.Tensor) -> torch.Tensor:
    return x * 3


@torch.compiler.disable
def between(x: torch.Tensor) -> torch.Tensor:
    return compiled_inner(x)


def outer(x: torch.Tensor) -> torch.Tensor:
    return between(x + 1) + 1


def in_thread_a(x: torch.Tensor) -> torch.Tensor:
    return x.tanh()


def in_thread_b(x: torch.Tensor) -> torch.Tensor:
    return x.exp()


def empty(x: torch.Tensor) -> torch.Tensor:
    return x


compiled_inner = torch.compile(inner, backend="eager")


def nine_sizes() -> None:
    """Static shapes: eight entries, the ninth is refused, then eager without a word."""
    static = torch.compile(grows, backend="eager", dynamic=False)
    for size in (2, 3, 4, 5, 6, 7, 8, 9, 3, 10, 11, 5):
        static(torch.ones(size))


def two_threads() -> None:
    """Two threads inside regions at the same time, each with a region of its own."""
    barrier = threading.Barrier(2)

    def calls(compiled: Callable[[torch.Tensor], torch.Tensor]) -> None:
        for size in (3, 3, 4, 5):
            barrier.wait()
            compiled(torch.ones(size))

    regions = [torch.compile(one, backend="eager") for one in (in_thread_a, in_thread_b)]
    threads = [threading.Thread(target=calls, args=(region,)) for region in regions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def main() -> None:
    settled = torch.compile(settles, backend="eager")
    for size in (3, 4, 5, 6, 7, 3):
        settled(torch.ones(size))

    nine_sizes()

    off = torch.compile(off_later, backend="eager")
    for identity in (False, False, True, False, True):
        off(torch.ones(3), identity)

    raising = torch.compile(raises_once, backend="eager", dynamic=False)
    for size in (3, 3, 9, 3):
        with contextlib.suppress(ValueError):
            raising(torch.ones(size), 5)

    nested = torch.compile(outer, backend="eager")
    for _ in range(3):
        nested(torch.ones(4))

    nothing = torch.compile(empty, backend="eager")
    for _ in range(3):
        nothing(torch.ones(4))

    two_threads()


if __name__ == "__main__":
    main()
