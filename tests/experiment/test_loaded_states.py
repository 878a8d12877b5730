"""State that is loaded by name: what a prefix alone kept from being loaded."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch

from compile_ledger.experiment.loaded_states import LoadedStates


class Session:
    """As much of a session as watching needs."""

    def __init__(self) -> None:
        self.restore: list[Any] = []

    def contained(self, work: Any, *args: Any) -> Any:
        return work(*args)


@pytest.fixture
def loads() -> Iterator[LoadedStates]:
    session: Any = Session()
    yield LoadedStates(session)
    for undo in session.restore:
        undo()


def wrapped() -> torch.nn.Module:
    """What torch.compile makes of a module; nothing compiles before it is called."""
    module: Any = torch.compile(torch.nn.Linear(2, 3), backend="eager")
    return module


def test_a_compiled_modules_state_is_missed_by_a_plain_one(loads: LoadedStates) -> None:
    found = torch.nn.Linear(2, 3).load_state_dict(wrapped().state_dict(), strict=False)
    assert len(found.missing_keys) == 2
    (missed,) = loads.facts()
    assert missed.keys == 2
    assert (missed.given, missed.wanted) == ("_orig_mod.weight", "weight")
    assert missed.place
    assert missed.place.file == __file__


def test_a_plain_state_is_missed_by_a_compiled_module(loads: LoadedStates) -> None:
    wrapped().load_state_dict(torch.nn.Linear(2, 3).state_dict(), strict=False)
    (missed,) = loads.facts()
    assert (missed.given, missed.wanted) == ("weight", "_orig_mod.weight")


def test_a_later_load_takes_it_back(loads: LoadedStates) -> None:
    module, state = torch.nn.Linear(2, 3), wrapped().state_dict()
    module.load_state_dict(state, strict=False)
    module.load_state_dict({key.replace("_orig_mod.", ""): v for key, v in state.items()})
    assert loads.facts() == []


def test_keys_that_are_missing_for_another_reason_are_the_programs_own(loads: LoadedStates) -> None:
    module = torch.nn.Linear(2, 3)
    module.load_state_dict(
        {"weight": torch.zeros(3, 2), "head.weight": torch.ones(1)}, strict=False
    )
    wrapped().load_state_dict({"_orig_mod.weight": torch.zeros(3, 2)}, strict=False)
    assert loads.facts() == []


def test_a_load_that_raises_still_raises(loads: LoadedStates) -> None:
    with pytest.raises(RuntimeError, match=r"_orig_mod\.weight"):
        torch.nn.Linear(2, 3).load_state_dict(wrapped().state_dict())
    assert loads.facts() == []
