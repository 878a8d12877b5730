"""what_if against what the next real call did, over generated streams of calls."""

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from compile_ledger import TensorSpec, cache_line, what_if

_spec = importlib.util.spec_from_file_location("served", Path(__file__).with_name("served.py"))
assert _spec
assert _spec.loader
_served = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_served)

Ask = Callable[[Any, tuple[Any, ...]], Any]
EAGER = {"refused", "fall_back", "switched_off"}


class Call(NamedTuple):
    """Everything that one generated call passes."""

    size: tuple[int, ...]
    layout: str
    dtype: torch.dtype
    grad: bool
    text: str
    number: Any
    keys: tuple[str, ...]
    several: int
    same: bool


CALLS = st.builds(
    Call,
    size=st.sampled_from([(4,), (5,), (1,), (2, 3), (3, 3), (2, 1)]),
    layout=st.sampled_from(["dense", "dense", "dense", "strided", "transposed"]),
    dtype=st.sampled_from([torch.float32, torch.float32, torch.float64]),
    grad=st.sampled_from([False, False, True]),
    text=st.sampled_from(["a", "a", "b"]),
    number=st.sampled_from([2, 2, 3, 1.5, None, True]),
    keys=st.sampled_from([("p",), ("p",), ("p", "q"), ("q", "p"), ()]),
    several=st.sampled_from([1, 1, 2]),
    same=st.sampled_from([False, False, True]),
)


FRAGILE = st.builds(
    Call._replace,
    CALLS,
    number=st.sampled_from([2, 2, 2, 1.5, "bad"]),
)


def tensor(call: Call) -> torch.Tensor:
    size = call.size
    if call.layout == "strided":
        made = torch.zeros((*size[:-1], 2 * size[-1]), dtype=call.dtype)[..., ::2]
    elif call.layout == "transposed":
        made = torch.zeros(tuple(reversed(size)), dtype=call.dtype).permute(
            *reversed(range(len(size)))
        )
    else:
        made = torch.zeros(size, dtype=call.dtype)
    return made.detach().requires_grad_(call.grad)


def arguments(call: Call) -> tuple[Any, ...]:
    x = tensor(call)
    y = x if call.same else torch.zeros(call.size[-1])
    values = dict.fromkeys(call.keys, 1.0)
    return x, y, call.text, call.number, values, *[x.detach()] * call.several


def program(x: Any, y: Any, text: str, number: Any, values: Any, *several: Any) -> Any:
    if number == "bad":
        raise ValueError(text)
    out = x + 1 if text == "a" else x - 1
    out = out + y.sum()
    if number is not None:
        out = out * number
    for value in values.values():
        out = out * value
    for one in several:
        out = out + one
    if x.shape[0] == several[0].shape[-1]:
        out = out * 2
    return out


def described(given: tuple[Any, ...]) -> tuple[Any, ...]:
    """The same arguments with each tensor described, one description for one tensor."""
    made: dict[int, TensorSpec] = {}

    def replace(value: Any) -> Any:
        if isinstance(value, list):
            return [replace(one) for one in value]
        if not isinstance(value, torch.Tensor):
            return value
        spec = TensorSpec(
            value.shape, value.stride(), value.dtype, value.device, value.requires_grad
        )
        return made.setdefault(id(value), spec)

    return tuple(replace(one) for one in given)


class Tally:
    """Predictions against outcomes."""

    def __init__(self) -> None:
        self.right = self.all = self.off = 0
        self.wrong: list[str] = []

    def note(self, predicted: tuple[str, str], actual: tuple[str, str], call: Any) -> None:
        self.all += 1
        if predicted == actual:
            self.right += 1
        else:
            self.wrong.append(f"{predicted} but {actual}: {call}")


def as_outcome(answer: Any) -> tuple[str, str]:
    if answer.next in EAGER:
        return "eager", ""
    return ("compile", "") if answer.compiles else ("reuse", answer.hit)


def stream(tally: Tally, calls: list[Call], ask: Ask) -> None:
    """Ask, then call, for each call of a stream on fresh entries."""
    torch._dynamo.reset()
    witness = _served.Witness()
    compiled = torch.compile(program, backend=witness)
    for call in calls:
        given_now = arguments(call)
        answer = ask(compiled, given_now)
        before = cache_line(compiled).root.state
        did, by = witness.of_call(compiled, *given_now)
        if did == "raised":
            continue
        if before == "off":
            tally.off += answer.next == "switched_off" and did == "eager"
            assert answer.next == "switched_off"
        tally.note(as_outcome(answer), (did, by if did == "reuse" else ""), call)


def run(ask: Ask, examples: int, limit: int, calls: Any = CALLS) -> Tally:
    tally = Tally()

    @settings(
        max_examples=examples,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(st.lists(calls, min_size=4, max_size=7))
    def streams(stream_of: list[Call]) -> None:
        with torch._dynamo.config.patch(recompile_limit=limit):
            stream(tally, stream_of, ask)

    streams()
    sys.stdout.write(f"\n{tally.right} of {tally.all} right, {tally.off} of them while off\n")
    return tally


def real(compiled: Any, given_now: tuple[Any, ...]) -> Any:
    return what_if(compiled, *given_now)


def from_descriptions(compiled: Any, given_now: tuple[Any, ...]) -> Any:
    return what_if(compiled, *described(given_now))


def offline(compiled: Any, given_now: tuple[Any, ...]) -> Any:
    return what_if(cache_line(compiled), *described(given_now))


def test_predictions_come_true() -> None:
    tally = run(real, 42, 8)
    assert tally.all > 200
    assert tally.right >= 0.99 * tally.all, tally.wrong


def test_limits_are_foreseen() -> None:
    tally = run(real, 15, 2)
    assert tally.right >= 0.99 * tally.all, tally.wrong


def test_descriptions_predict_as_tensors_do() -> None:
    tally = run(from_descriptions, 15, 3)
    assert tally.right >= 0.99 * tally.all, tally.wrong


def test_a_saved_cache_line_predicts_as_well() -> None:
    tally = run(offline, 15, 3)
    assert tally.right >= 0.99 * tally.all, tally.wrong


def test_a_code_object_that_is_off_is_always_said_to_be() -> None:
    tally = run(real, 20, 8, FRAGILE)
    assert tally.off > 10
    assert tally.right >= 0.99 * tally.all, tally.wrong
