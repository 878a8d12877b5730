"""Asks this torch how it behaves, by running small functions with ``backend="eager"``."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

_MANY = 12


def behaviour() -> dict[str, str]:
    """Question to answer; an answer that could not be had says why."""
    logging.getLogger("torch").setLevel(logging.CRITICAL)
    questions: dict[str, Callable[[], str]] = {
        "past the limit, a value that has an entry": lambda: _past_limit(seen=True),
        "past the limit, a new value": lambda: _past_limit(seen=False),
        "past the limit, with fullgraph=True": _fullgraph,
        f"{_MANY} different Python floats": lambda: _compiles([i + 0.5 for i in range(_MANY)]),
        f"{_MANY} different Python ints": lambda: _compiles(list(range(2, 2 + _MANY))),
        f"{_MANY} different strings": lambda: _compiles([f"s{i}" for i in range(_MANY)]),
        f"{_MANY} different sizes": lambda: _compiles([None] * _MANY),
    }
    return {question: _answer(ask) for question, ask in questions.items()}


def _answer(ask: Callable[[], str]) -> str:
    import torch

    torch._dynamo.reset()  # noqa: SLF001
    try:
        return ask()
    except Exception as error:  # noqa: BLE001  the answer is that it raises
        return f"raises {type(error).__name__}"


def _counting() -> tuple[Callable[..., Any], list[int]]:
    """A backend, and the lists of its graphs' compiles and runs."""
    counts = [0, 0]

    def backend(graph: Any, _inputs: Any) -> Any:
        counts[0] += 1

        def run(*args: Any) -> Any:
            counts[1] += 1
            return graph.forward(*args)

        return run

    return backend, counts


def _function(x: Any, value: Any) -> Any:
    if isinstance(value, str):
        return x + len(value)
    return x + 1 if value is None else x * value


def _compiles(values: list[Any]) -> str:
    import torch

    backend, counts = _counting()
    compiled = torch.compile(_function, backend=backend)
    for number, value in enumerate(values, start=2):
        compiled(torch.ones(number if value is None else 2), value)
    return f"{counts[0]} compiles"


def _fill(*, fullgraph: bool = False) -> tuple[Any, list[int]]:
    import torch

    backend, counts = _counting()
    compiled = torch.compile(_function, backend=backend, dynamic=False, fullgraph=fullgraph)
    for number in range(2, 2 + _MANY):
        compiled(torch.ones(number), None)
    return compiled, counts


def _past_limit(*, seen: bool) -> str:
    import torch

    compiled, counts = _fill()
    before = counts[1]
    compiled(torch.ones(2 if seen else 99), None)
    return "runs compiled" if counts[1] > before else "runs eagerly, silently"


def _fullgraph() -> str:
    _fill(fullgraph=True)
    return "runs on without a word"
