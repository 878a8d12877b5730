"""Operators of steady calls, inside graphs and outside, with the line that ran them."""

from __future__ import annotations

import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import torch
from torch import nn

from compile_ledger.facts.outside import Operators
from compile_ledger.observe.operators import OperatorSampler
from compile_ledger.observe.recording.recorder import Recorder

X = torch.ones(4, 8)
BODY = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 8))


@torch.compiler.disable
def features(x: Any) -> Any:
    return BODY(x)


def sampled(
    tmp_path: Path,
    function: Callable[[Any], Any],
    before: Callable[[], Any] = int,
    calls: Callable[[Callable[[], Any]], Any] = lambda call: [call() for _ in range(5)],
    **options: Any,
) -> list[Operators]:
    """What the sampler sees of a function compiled and called, five times or by ``calls``."""
    torch.compiler.reset()
    recorder = Recorder(str(tmp_path / "capture.jsonl"), arm="capture", keep_calls=True)
    assert recorder.calls is not None
    recorder.start()
    sampler = OperatorSampler()
    recorder.calls.watchers.append(sampler)
    compiled = torch.compile(function, backend="eager", **options)

    def call() -> None:
        with torch.no_grad():
            before()
            compiled(X)

    calls(call)
    assert not recorder.session.sink.losses()
    for undo in reversed(recorder.session.restore):
        undo()
    recorder.finish()
    return list(sampler.facts())


def test_a_whole_graph_holds_every_operator(tmp_path: Path) -> None:
    found = sampled(tmp_path, lambda x: BODY(x).sum())
    assert [one.call for one in found] == [1, 2, 3, 4]
    assert {(one.inside, one.outside, one.graphs) for one in found} == {(4, 0, 1)}
    assert all(one.inside_ns > 0 and not one.why for one in found)


def test_what_makes_a_symbolic_float_an_input_is_not_the_programs(tmp_path: Path) -> None:
    drawn = random.Random(7)  # noqa: S311  not for secrets
    last = sampled(tmp_path, lambda x: BODY(x) * drawn.random(), dynamic=True)
    assert last
    assert (last[-1].graphs, last[-1].outside) == (1, 0)


def test_a_disabled_function_is_named_with_its_line(tmp_path: Path) -> None:
    last = sampled(tmp_path, lambda x: features(x).relu())[-1]
    assert (last.inside, last.outside) == (1, 3)
    (place,) = last.places
    assert place.place.function == "features"
    assert place.place.line == features.__wrapped__.__code__.co_firstlineno + 2
    assert (place.operators, place.disabled) == (3, True)


def test_the_rest_of_a_try_is_outside(tmp_path: Path) -> None:
    def attempt(x: Any) -> Any:
        h = torch.relu(BODY[0](x))
        try:
            torch._dynamo.graph_break()
            h = torch.tanh(BODY(h))
        except ValueError:
            pass
        return h

    last = sampled(tmp_path, attempt)[-1]
    assert (last.inside, last.outside) == (2, 4)
    assert last.places[0].place.function.endswith("attempt")
    assert not last.places[0].disabled


def test_reads_and_printing_are_not_work(tmp_path: Path) -> None:
    def read(x: Any) -> Any:
        y = BODY(x)
        str(y.detach())
        return y.sum().item()

    last = sampled(tmp_path, read)[-1]
    assert last.outside == 0
    assert last.inside == 4


def test_a_call_that_compiles_is_left_out(tmp_path: Path) -> None:
    names = iter(("a", "b", "c", "c", "c"))

    def call(x: Any) -> Any:
        return {"a": x + 1, "b": x + 2, "c": x + 3}[named.name]

    class Named:
        name = "a"

    named = Named()

    def advancing(x: Any) -> Any:
        return call(x)

    found = sampled(tmp_path, advancing, before=lambda: setattr(named, "name", next(names)))
    assert [one.call for one in found] == [3, 4]


def test_a_call_that_met_the_limit_says_nothing_of_graphs(tmp_path: Path) -> None:
    class Model(nn.Module):
        steps = 0

        def forward(self, x: Any) -> Any:
            self.steps += 1
            return BODY(x) + self.steps

    with torch._dynamo.config.patch(recompile_limit=2):
        assert not sampled(tmp_path, Model())


def test_no_profiler_starts_in_calls_of_several_threads(tmp_path: Path) -> None:
    """Two threads that start it end the process by a signal."""

    def pooled(call: Callable[[], Any]) -> None:
        call()
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda _: call(), range(40)))

    found = sampled(tmp_path, lambda x: BODY(x).sum(), calls=pooled)
    assert [one.why for one in found] == ["operators are counted in calls of the main thread only"]
