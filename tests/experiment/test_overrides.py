"""What an arm changes of ``torch.compile``'s arguments, and what it leaves."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from compile_ledger.experiment import overrides
from compile_ledger.experiment.overrides import (
    CHEAP_BACKENDS,
    changed_kwargs,
    install,
    install_identity,
    is_cheap,
)


@pytest.fixture(autouse=True)
def forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(overrides, "_replaced", [])


@pytest.mark.parametrize("backend", sorted(CHEAP_BACKENDS))
def test_a_backend_without_code_generation_is_left_as_it_is(backend: str) -> None:
    given = {"backend": backend, "dynamic": True, "options": {"a": 1}}
    assert changed_kwargs(given, {}, cheap_backend=True) == given
    assert not overrides.replaced()


@pytest.mark.parametrize("given", [{}, {"backend": "inductor"}, {"backend": None}])
def test_a_backend_that_generates_code_becomes_eager(given: dict[str, Any]) -> None:
    assert changed_kwargs(given, {}, cheap_backend=True) == {"backend": "eager"}
    assert overrides.replaced()


def test_a_callable_backend_may_generate_code_and_becomes_eager() -> None:
    def mine(graph: Any, _inputs: Any) -> Any:
        return graph

    assert not is_cheap(mine)
    assert changed_kwargs({"backend": mine}, {}, cheap_backend=True) == {"backend": "eager"}


def test_mode_and_options_go_with_the_backend_that_they_were_written_for() -> None:
    for given in ({"mode": "max-autotune"}, {"options": {"max_autotune": True}}):
        assert changed_kwargs(given, {}, cheap_backend=True) == {"backend": "eager"}


def test_other_arguments_stay_and_the_given_mapping_is_not_changed() -> None:
    given = {"dynamic": False, "fullgraph": True}
    assert changed_kwargs(given, {}, cheap_backend=True) == {**given, "backend": "eager"}
    assert given == {"dynamic": False, "fullgraph": True}


def test_an_override_replaces_what_the_program_gave() -> None:
    changed = changed_kwargs({"dynamic": False}, {"dynamic": None}, cheap_backend=False)
    assert changed == {"dynamic": None}
    assert not overrides.replaced()


class Compiled:
    def __init__(self, model: Any, kwargs: dict[str, Any]) -> None:
        self.model, self.kwargs = model, kwargs


@pytest.fixture
def declared() -> list[Any]:
    """What the arm was told that the program gave."""
    return []


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch, declared: list[Any]) -> None:
    def fake(model: Any, **kwargs: Any) -> Compiled:
        return Compiled(model, kwargs)

    monkeypatch.setattr(torch, "compile", fake)
    install({"dynamic": None}, declared.append, cheap_backend=True)


@pytest.mark.usefixtures("compiled")
def test_the_call_and_both_decorator_forms_are_changed() -> None:
    def plain() -> None:
        return None

    forms: list[Any] = [
        torch.compile(plain, dynamic=False),
        torch.compile(plain),
        torch.compile(dynamic=False)(plain),
        torch.compile(model=plain, dynamic=False),
    ]
    for form in forms:
        assert form.model is plain
        assert form.kwargs == {"dynamic": None, "backend": "eager"}


@pytest.mark.usefixtures("compiled")
def test_module_compile_goes_through_the_same_change() -> None:
    module = torch.nn.Identity()
    module.compile(dynamic=False)
    found: Any = module._compiled_call_impl
    assert found.kwargs == {"dynamic": None, "backend": "eager"}


@pytest.mark.usefixtures("compiled")
def test_what_the_program_gave_is_told_before_and_taken_back_after(declared: list[Any]) -> None:
    torch.compile(len, dynamic=False, mode="default")
    torch.compile(dynamic=True)(len)
    torch.compile(len)
    given: list[Any] = [{"dynamic": False, "mode": "default"}, {"dynamic": True}, {}]
    assert declared == [given[0], None, given[1], None, given[2], None]


def _function(x: torch.Tensor) -> torch.Tensor:
    return x + 1


@pytest.fixture
def identity(monkeypatch: pytest.MonkeyPatch) -> None:
    """The identity in place, taken out again with what it replaced."""
    import torch._dynamo

    for owner, name in (
        (torch, "compile"),
        (torch.nn.Module, "compile"),
        (torch._dynamo, "optimize"),
        (torch._dynamo, "optimize_assert"),
    ):
        monkeypatch.setattr(owner, name, getattr(owner, name))
    install_identity()


FORMS: dict[str, Any] = {
    "call": lambda: torch.compile(_function, backend="eager"),
    "by keyword": lambda: torch.compile(model=_function),
    "bare decorator": lambda: torch.compile(_function),
    "decorator with arguments": lambda: torch.compile(dynamic=False, mode="default")(_function),
    "empty decorator": lambda: torch.compile()(_function),
    "torch._dynamo.optimize": lambda: torch._dynamo.optimize("eager")(_function),
    "torch._dynamo.optimize_assert": lambda: torch._dynamo.optimize_assert("eager")(_function),
}


@pytest.mark.usefixtures("identity")
@pytest.mark.parametrize("form", FORMS)
def test_each_form_gives_back_what_it_was_given(form: str) -> None:
    assert FORMS[form]() is _function


@pytest.mark.usefixtures("identity")
def test_a_module_stays_the_module_with_its_names() -> None:
    module = torch.nn.Linear(2, 2)
    assert torch.compile(module) is module
    module.compile(backend="eager", fullgraph=True)
    assert module._compiled_call_impl is None
    assert list(module.state_dict()) == ["weight", "bias"]


@pytest.mark.usefixtures("identity")
def test_a_decorated_forward_compiles_nothing() -> None:
    def backend(_graph: Any, _inputs: Any) -> Any:
        pytest.fail("compiled")

    class Net(torch.nn.Module):
        @torch.compile(backend=backend)
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x * 2

    assert Net()(torch.ones(2)).tolist() == [2.0, 2.0]
