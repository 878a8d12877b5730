"""At a miss every guard of each entry is asked, and no code of the user's runs for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from compile_ledger.observe.cache_line.lookup import raw_entries
from compile_ledger.observe.what_if.at_miss import MOST_ENTRIES, ask_at_miss
from compile_ledger.observe.what_if.reading import UnreadError, read


def asked(function: Callable[..., Any], **values: Any) -> list[tuple[str, str, str, str]]:
    (answer,) = ask_at_miss(raw_entries(function.__code__), function.__code__, values)
    return [(r.source, r.aspect, r.expected, r.actual) for r in answer.refusals]


def test_every_guard_that_fails_is_told_with_both_values() -> None:
    def step(x: torch.Tensor, flag: str, k: int) -> torch.Tensor:
        return x * k if flag == "a" else x

    torch.compile(step, backend="eager", dynamic=False)(torch.ones(2, 4), "a", 2)
    assert asked(step, x=torch.ones(2, 6).int(), flag="b", k=3) == [
        ("L['k']", "value", "2", "3"),
        ("L['x']", "dtype", "torch.float32", "torch.int32"),
        ("L['x']", "size[1]", "4", "6"),
        ("L['x']", "stride[0]", "4", "6"),
        ("L['flag']", "value", "'a'", "'b'"),
    ]


def test_a_recording_has_the_attribute_that_the_text_hides(tmp_path: Any) -> None:
    class Scaled(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.scale = 2

        def forward(self, x: torch.Tensor, flag: str) -> torch.Tensor:
            return x * self.scale if flag == "a" else x + self.scale

    import compile_ledger

    model = Scaled()
    compiled = torch.compile(model, backend="eager", dynamic=False)
    with compile_ledger.record(tmp_path):
        compiled(torch.ones(2), "a")
        compiled(torch.ones(2), "b")
        model.scale = 3
        compiled(torch.ones(2), "a")
    from compile_ledger.read.recording import read_arm

    (file,) = tmp_path.glob("*.jsonl")
    last = read_arm(file).compiles[-1]
    newest, first = last.answers
    assert [one.source for one in newest.refusals] == ["L['flag']", "L['self'].scale"]
    assert [(one.source, one.expected, one.actual) for one in first.refusals] == [
        ("L['self'].scale", "2", "3")
    ]


class Watched:
    """Counts what is run to read it."""

    runs = 0

    def __init__(self) -> None:
        self.plain = 1

    @property
    def made(self) -> int:
        Watched.runs += 1
        return 1

    def __getattr__(self, name: str) -> int:
        Watched.runs += 1
        raise AttributeError(name)

    def __getitem__(self, key: object) -> int:
        Watched.runs += 1
        return 1

    def __len__(self) -> int:
        Watched.runs += 1
        return 1


class OwnItems(dict[str, int]):
    """A dict whose own ``[]`` must not be asked."""

    def __getitem__(self, key: str) -> int:
        raise AssertionError(key)


@pytest.mark.parametrize(
    "source", ["L['w'].made", "L['w'].absent", "L['w'][0]", "len(L['w'])", "L['x'].item()"]
)
def test_what_would_run_code_or_copy_data_is_left_unread(source: str) -> None:
    Watched.runs = 0
    with pytest.raises(UnreadError):
        read(source, {"L": {"w": Watched(), "x": torch.ones(())}}, {})
    assert Watched.runs == 0


def closing(variable: int) -> Callable[[], int]:
    return lambda: variable


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("L['w'].plain", 1),
        ("L['d']['a']", 7),
        ("L['n'][1]['k']", 5),
        ("L['m']._parameters['weight'].size()[0]", 3),
        ("L['m'].weight.requires_grad", True),
        ("L['f'].__closure__[0].cell_contents", 9),
        ("list(dict.keys(L['d']))[0]", "a"),
        ("type(L['d']).__dict__['__name__']", None),
        ("len(L['n'])", 2),
    ],
)
def test_what_is_stored_is_read(source: str, value: object) -> None:
    held = {
        "w": Watched(),
        "d": OwnItems(a=7),
        "n": [0, {"k": 5}],
        "m": torch.nn.Linear(2, 3),
        "f": closing(9),
    }
    if value is None:
        with pytest.raises(KeyError):
            read(source, {"L": held}, {})
    else:
        assert read(source, {"L": held}, {}) == value


def test_some_entries_are_asked_of_many() -> None:
    def named(x: torch.Tensor, name: str) -> torch.Tensor:
        return x * len(name)

    compiled = torch.compile(named, backend="eager")
    with torch._dynamo.config.patch(recompile_limit=16):
        for length in range(1, 12):
            compiled(torch.ones(2), "a" * length)
    entries = raw_entries(named.__code__)
    assert len(entries) == 11
    answers = ask_at_miss(entries, named.__code__, {"x": torch.ones(2), "name": "b"})
    assert len(answers) == MOST_ENTRIES
