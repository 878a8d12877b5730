"""Breaks, recompiles, and every way to fail: what it says on stderr is compared."""

import traceback
from collections.abc import Callable
from typing import Any

import torch


def inner(x: Any) -> Any:
    y = x + 1
    torch._dynamo.graph_break()
    return y * 2 if y.sum() > 0 else y


def outer(x: Any) -> Any:
    return inner(x).sin()


def wrong_shape(x: Any) -> Any:
    return x.view(3)


def raises(x: Any) -> Any:
    torch._dynamo.graph_break()
    raise ValueError(x.shape)


def broken_backend(*_: Any) -> Any:
    raise ValueError


def attempt(function: Callable[..., Any], *args: Any, **options: Any) -> None:
    try:
        torch.compile(function, **{"backend": "eager", **options})(*args)
    except Exception:  # noqa: BLE001  each failure is printed
        traceback.print_exc()


def main() -> None:
    compiled = torch.compile(outer, backend="eager")
    for size in (3, 4, 5):
        compiled(torch.ones(size))
    for function in (wrong_shape, raises):
        attempt(function, torch.ones(4))
    attempt(outer, torch.ones(4), fullgraph=True)
    attempt(outer, torch.ones(4), backend=broken_backend)
    attempt(outer, torch.ones(4), mode="none such")
    attempt(5)  # type: ignore[arg-type]
    with torch.compiler.set_stance("fail_on_recompile"):
        try:
            compiled(torch.ones(3, 3))
        except RuntimeError:
            traceback.print_exc()
    raises(torch.ones(2))


main()
