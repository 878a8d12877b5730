"""Calls of compiled code, by way of its region and round it, in a process that runs eagerly."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from compile_ledger.experiment.correctness.fingerprint import reachable_modules
from compile_ledger.experiment.correctness.held import held_values
from compile_ledger.facts.outside import OwnCalls
from compile_ledger.observe.hooks.own_calls import OwnCallCounter, own_code, own_functions
from compile_ledger.observe.recording.recorder import Recorder

X = torch.ones(2, 4)


class Scale(nn.Module):
    """One linear layer, with every kind of parameter."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Linear(4, 4)

    def forward(self, x: Any, *rest: Any, by: float = 2.0, **more: Any) -> Any:
        del rest, more
        return self.inner(x) * by

    def generate(self, x: Any) -> Any:
        for _ in range(3):
            x = self(x)
        return x


class Deep(Scale):
    """Calls the base class's forward, and itself."""

    def forward(self, x: Any, *rest: Any, by: float = 2.0, **more: Any) -> Any:
        if rest:
            return self.forward(x, *rest[1:], by=by)
        return super().forward(x, by=by, **more)


@pytest.fixture
def counter(tmp_path: Path) -> Iterator[OwnCallCounter]:
    recorder = Recorder(str(tmp_path / "eager.jsonl"), arm="eager", keep_calls=True, eager=True)
    counter = OwnCallCounter(recorder.session)
    recorder.session.own_calls = counter
    recorder.start()
    with torch.compiler.set_stance("force_eager"):
        yield counter
    assert not recorder.session.sink.losses()
    for undo in reversed(recorder.session.restore):
        undo()
    recorder.finish()


def counts(counter: OwnCallCounter) -> list[tuple[int, int]]:
    return [(own.inside, own.outside) for own in counter.facts()]


def only(counter: OwnCallCounter) -> OwnCalls:
    (found,) = counter.facts()
    return found


def test_a_method_of_the_wrapped_module_goes_round_the_region(counter: OwnCallCounter) -> None:
    model = Scale()
    fast = torch.compile(model)
    fast(X)
    fast.generate(X)
    found = only(counter)
    assert (found.inside, found.outside, found.trained) == (1, 3, 3)
    (caller,) = found.callers
    assert caller.place is not None
    assert (caller.place.function, caller.calls, caller.library) == ("generate", 3, None)
    assert found.inside_ns > 0
    assert found.outside_ns > 0


def test_what_runs_inside_any_region_is_inside(counter: OwnCallCounter) -> None:
    model = Deep()
    model.compile()
    model(X)
    model.generate(X)
    model(X, 1, 2)
    assert counts(counter) == [(5, 0)]
    model.forward(X, 1)
    assert counts(counter) == [(5, 1)]


def test_another_object_is_not_the_target(counter: OwnCallCounter) -> None:
    model, other = Scale(), Scale()
    torch.compile(model)
    other(X)
    with torch.no_grad():
        model(X)
    found = only(counter)
    assert (found.inside, found.outside, found.others, found.trained) == (0, 1, 1, 0)


def test_a_submodule_leaves_the_rest_alone(counter: OwnCallCounter) -> None:
    whole = nn.Sequential(Scale(), nn.ReLU())
    whole[0].compile()
    whole(X)
    assert counts(counter) == [(1, 0)]


def test_a_bound_method_and_a_function(counter: OwnCallCounter) -> None:
    model = Scale()
    fast = torch.compile(model.forward)
    fast(X)
    model(X)

    def double(x: Any) -> Any:
        return x * 2

    compiled = torch.compile(double)
    compiled(X)
    compiled(X)
    double(X)
    assert counts(counter) == [(1, 1), (2, 1)]


def test_forward_replaced_by_its_compiled_form_is_inside(counter: OwnCallCounter) -> None:
    model = Scale()
    model.forward = torch.compile(model.forward)  # type: ignore[method-assign]
    model(X)
    model.generate(X)
    assert counts(counter) == [(4, 0)]


def test_a_call_that_raises_is_counted(counter: OwnCallCounter) -> None:
    model = Scale()
    torch.compile(model)
    with pytest.raises(RuntimeError):
        model(torch.ones(2, 3))
    assert counts(counter) == [(0, 1)]


def test_the_function_keeps_its_face(counter: OwnCallCounter) -> None:
    before = inspect.signature(Scale.forward), inspect.getsource(Scale.forward)
    model = Scale()
    torch.compile(model)
    assert (inspect.signature(Scale.forward), inspect.getsource(Scale.forward)) == before
    assert torch.equal(model(X, 1, by=3.0, other=1), model.inner(X) * 3.0)
    assert counts(counter) == [(0, 1)]


def test_what_is_no_python_function_says_so(counter: OwnCallCounter) -> None:
    torch.compile(torch.relu)
    assert "no Python function" in only(counter).why


def test_a_wrapper_of_torchs_counts_for_the_module_inside() -> None:
    model = Scale()
    found = list(own_functions(nn.DataParallel(model)))
    assert [owner for _, owner in found][-1] is model
    assert found[-1][0] is Scale.forward


def test_the_programs_code_is_found_behind_its_stand_in(counter: OwnCallCounter) -> None:
    model = Scale()

    def step(x: Any) -> Any:
        return model(x).sum() + X.sum()

    was = step.__code__
    torch.compile(step)(X)

    assert counts(counter)[0] == (1, 0)
    assert step.__code__ is not was
    assert own_code(step.__code__) is was
    assert own_code(was) is was
    assert set(held_values(step)) == {"X"}
    assert list(reachable_modules(step)) == ["model"]
