"""The last calls of a region, made again eager and compiled as the program made them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import torch

from compile_ledger.experiment import replay
from compile_ledger.experiment.last_calls import LastCalls
from compile_ledger.facts.timing import SteadyState
from compile_ledger.observe.recording import late
from compile_ledger.observe.recording.recorder import Recorder


@pytest.fixture
def steady(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Any], Any]]:
    """Runs a program, then times its last calls; a few rounds are enough here."""
    monkeypatch.setattr("compile_ledger.experiment.steady_state.MOST_ROUNDS", 10)
    torch._dynamo.reset()

    def run(program: Callable[[], Any]) -> list[SteadyState]:
        recorder = Recorder(str(tmp_path / "arm.jsonl"), arm="steady", keep_calls=True)
        recorder.start(changed=())
        last = LastCalls()
        assert recorder.calls is not None
        recorder.calls.watchers.append(last)
        kept = program()
        recorder.calls.paused = True
        try:
            facts = list(replay.replay_program(last, recorder.session, seed=0))
        finally:
            recorder.finish()
            late.remove(recorder.session)
        del kept
        return [fact for fact in facts if isinstance(fact, SteadyState)]

    yield run
    torch._dynamo.reset()


def small(*more: torch.nn.Module) -> torch.nn.Module:
    return torch.nn.Sequential(torch.nn.Linear(4, 4), *more)


def timed(facts: list[SteadyState]) -> list[str]:
    return [fact.design for fact in facts if len(fact.compiled) >= 8 and not fact.left_out]


@contextmanager
def no_modes() -> Iterator[None]:
    yield


@pytest.mark.parametrize(
    "around",
    [torch.inference_mode, torch.no_grad, no_modes, lambda: torch.autocast("cpu", torch.bfloat16)],
)
@pytest.mark.parametrize("inside", [True, False])
def test_calls_in_every_mode_are_timed(steady: Any, around: Any, inside: bool) -> None:  # noqa: FBT001
    def program() -> Any:
        fast = torch.compile(small().eval(), backend="eager")
        for _ in range(4):
            given = torch.randn(2, 4)
            with around():
                fast(torch.randn(2, 4) if inside else given)
        return fast

    (fact,) = steady(program)
    assert (fact.why, fact.left_out, len(fact.compiled)) == ("", (), 10)


def test_training_with_an_evaluation_among_the_last_calls(steady: Any) -> None:
    def program() -> Any:
        net = small(torch.nn.Dropout(0.5))
        fast = torch.compile(net, backend="aot_eager")
        for number in range(9):
            if number in (4, 7):
                net.eval()
                with torch.no_grad():
                    fast(torch.randn(2, 4))
                net.train()
            fast(torch.randn(2, 4)).sum().backward()
        return fast

    facts = steady(program)
    assert timed(facts) == ["replayed calls, forward and backward", "replayed calls"]
    assert [round(fact.share, 2) for fact in facts] == [0.82, 0.18]


def test_a_backward_pass_that_the_program_did_not_run_is_not_run(steady: Any) -> None:
    def program() -> Any:
        fast = torch.compile(small(), backend="eager")
        for _ in range(4):
            fast(torch.randn(2, 4))
        return fast

    assert timed(steady(program)) == ["replayed calls, forward only"]


def test_a_whole_step_is_timed_as_one_and_leaves_the_weights(steady: Any) -> None:
    net = small()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    given = torch.randn(2, 4)

    def program() -> Any:
        @torch.compile(backend="eager")
        def step(x: torch.Tensor) -> None:
            optimizer.zero_grad()
            net(x).pow(2).mean().backward()
            optimizer.step()

        for _ in range(4):
            step(given)
        program.weights = net[0].weight.detach().clone()  # type: ignore[attr-defined]
        return step

    facts = steady(program)
    assert [(fact.why, fact.left_out) for fact in facts] == [("", ())]
    assert timed(facts) == ["replayed calls, the backward pass and the optimizer's step inside"]
    assert torch.equal(net[0].weight, program.weights)  # type: ignore[attr-defined]


class Cache:
    """A cache that grows with each call, as of keys and values."""

    def __init__(self) -> None:
        self.keys = torch.zeros(1, 4)


def test_a_cache_that_grows_does_not_grow_while_it_is_timed(steady: Any) -> None:
    def attend(x: torch.Tensor, cache: Cache) -> torch.Tensor:
        cache.keys = torch.cat([cache.keys, x])
        return cache.keys.sum(0)

    def program() -> Any:
        fast, cache = torch.compile(attend, backend="eager"), Cache()
        for _ in range(8):
            fast(torch.randn(1, 4), cache)
        return fast

    (fact,) = steady(program)
    assert (fact.why, fact.left_out, len(fact.compiled)) == ("", (), 10)


class Stateful(torch.nn.Module):
    """It counts its calls, keeps a list and a tensor that grow, and refuses a 7th call."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)
        self.seen = torch.zeros(0, 4)
        self.history: list[int] = []

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if len(self.history) >= 6:
            msg = "the cache is full"
            raise RuntimeError(msg)
        self.history.append(1)
        self.seen = torch.cat([self.seen, x])
        return self.linear(self.seen)


def test_state_that_grows_is_put_back_before_each_call(steady: Any) -> None:
    net = Stateful()

    def program() -> Any:
        fast = torch.compile(net, backend="eager")
        for _ in range(6):
            with torch.no_grad():
                fast(torch.randn(1, 4))
        return fast

    (fact,) = steady(program)
    assert (fact.why, len(fact.compiled)) == ("", 10)


def test_a_view_a_repeated_and_a_strided_argument_meet_the_same_guards(steady: Any) -> None:
    def add(x: torch.Tensor, y: torch.Tensor, z: torch.Tensor) -> torch.Tensor:
        return x + y + z

    def program() -> Any:
        fast = torch.compile(add, backend="eager", dynamic=False)
        for _ in range(4):
            x = torch.randn(4, 4)
            fast(x, x, torch.randn(1, 4).expand(4, 4))
        return fast

    (fact,) = steady(program)
    assert (fact.why, fact.left_out) == ("", ())


def test_what_cannot_be_made_again_says_which_guard_refuses(steady: Any) -> None:
    mode = {"name": "a"}

    class Reader:
        __slots__ = ("value",)
        value: Any

    reader = Reader()

    def read(x: torch.Tensor) -> torch.Tensor:
        return x + reader.value

    def program() -> Any:
        fast = torch.compile(read, backend="eager")
        for _ in range(4):
            reader.value = 1
            fast(torch.randn(4))
        reader.value = "later"
        return fast, mode

    (fact,) = steady(program)
    assert not fact.compiled
    assert "none of the last 4 calls could be timed: made again, it raised TypeError" in fact.why


def test_calls_that_compile_anew_are_left_out_one_by_one(steady: Any) -> None:
    flag: list[Any] = [True]

    class Switch:
        __slots__ = ("on",)
        on: bool

    switch = Switch()

    def act(x: torch.Tensor, kind: str) -> torch.Tensor:
        if kind == "b" and switch.on:
            return x * 2
        return x + 1

    def program() -> Any:
        fast = torch.compile(act, backend="eager")
        switch.on = True
        for kind in ("a", "b", "a", "b"):
            fast(torch.randn(4), kind)
        switch.on = False
        return fast, flag

    (fact,) = steady(program)
    assert len(fact.compiled) >= 8
    assert len(fact.left_out) == 2
    assert "made again, it compiled anew: " in fact.left_out[0]
    assert "switch" in fact.left_out[0]


@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor")
def test_gradients_of_arguments_that_are_results_themselves(steady: Any) -> None:
    first, second = small(), small()

    def program() -> Any:
        fast = torch.compile(second, backend="aot_eager")
        for _ in range(4):
            fast(first(torch.randn(2, 4))).sum().backward()
        return fast

    assert timed(steady(program)) == ["replayed calls, forward and backward"]
