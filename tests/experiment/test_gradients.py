"""Gradients of compiled calls against those of copies; a program's passes are only looked at."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from compile_ledger.experiment import plan
from compile_ledger.experiment.correctness.error import Where
from compile_ledger.experiment.correctness.gradients import Gradients
from compile_ledger.facts.agreement import Agreement
from compile_ledger.facts.contract import Contract
from compile_ledger.judge.correct.level import judge_correct
from compile_ledger.observe.hooks.backward import around_backward

from . import support

Call = Callable[..., Any]


class Scaled(torch.autograd.Function):
    """What it is given; its gradient is one and a half times too large."""

    @staticmethod
    def forward(_: Any, x: torch.Tensor) -> torch.Tensor:
        return x.clone()

    @staticmethod
    def backward(_: Any, grad: torch.Tensor) -> torch.Tensor:
        return grad * 1.5


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(4, 8), nn.Linear(8, 3)
        self.unused = nn.Linear(2, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.second(torch.relu(self.first(x)))


class Watched:
    """Calls of one region, each with what stands for its compiled code."""

    def __init__(self) -> None:
        self.found: list[Agreement] = []
        self.gradients = Gradients(self.found.append)
        self.calls = 0

    def __call__(self, target: Any, *args: Any, code: Call | None = None) -> Any:
        prepared = self.gradients.prepare(target, args, {})
        value = (code or target)(*args)
        if prepared is not None:
            where = Where(0, self.calls, "call")
            self.gradients.ran(where, prepared, (target, args, {}), value, "")
        self.calls += 1
        return value

    def said(self) -> list[tuple[int | None, str, str, int]]:
        return [(a.call, a.leaf, a.status, a.leaves) for a in self.found]


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> Watched:
    for module in (torch.autograd, torch.autograd.graph):
        monkeypatch.setattr(module, "_engine_run_backward", module._engine_run_backward)
    torch.manual_seed(0)
    one = Watched()
    assert around_backward(one.gradients.begin)
    return one


def wrong(net: Net) -> Call:
    return lambda x: net.second(torch.relu(nn.functional.linear(x, *scaled(net))))


def scaled(net: Net) -> tuple[torch.Tensor, torch.Tensor]:
    return Scaled.apply(net.first.weight), net.first.bias


def test_gradients_that_agree_are_one_line_a_call(watched: Watched) -> None:
    net = Net()
    watched(net, torch.randn(5, 4)).sum().backward()
    assert watched.said() == [(0, "gradients", "equal", 4)]
    assert watched.gradients.waiting == []


def test_a_wrong_gradient_is_named_and_the_others_agree(watched: Watched) -> None:
    net = Net()
    for _ in range(2):
        watched(net, torch.randn(5, 4), code=wrong(net)).square().sum().backward()
    both = ("gradient of first.weight", "differs", 1), ("gradients", "equal", 3)
    assert watched.said() == [(call, *one) for call in (0, 1) for one in both]
    assert watched.found[0].error_compiled == pytest.approx(0.5, abs=1e-3)


def test_no_hook_stays_and_accumulated_gradients_are_as_they_would_be(watched: Watched) -> None:
    net, x = Net(), torch.randn(5, 4)
    alone = torch.autograd.grad(net(x).sum(), net.first.weight)[0]
    for _ in range(3):
        watched(net, x).sum().backward()
    assert net.first.weight.grad is not None
    torch.testing.assert_close(net.first.weight.grad, 3 * alone)
    assert [one.leaves for one in watched.found] == [4, 4, 4]
    assert net.first.weight._backward_hooks is None
    assert net.second(torch.ones(8)).grad_fn is not None


def test_the_gradient_of_what_the_program_computed_before_is_compared(watched: Watched) -> None:
    net, before = Net(), nn.Linear(4, 4)
    x = before(torch.randn(5, 4))
    watched(net, x, code=lambda y: net(Scaled.apply(y))).sum().backward()
    assert (0, "gradient of args[0]", "differs", 1) in watched.said()


def test_frozen_parameters_have_no_gradient_on_either_side(watched: Watched) -> None:
    net = Net()
    net.first.requires_grad_(requires_grad=False)
    watched(net, torch.randn(5, 4)).sum().backward()
    assert watched.said() == [(0, "gradients", "equal", 2)]


def test_calls_of_one_pass_share_their_parameters_gradient(watched: Watched) -> None:
    net = Net()
    (watched(net, torch.randn(5, 4)).sum() + watched(net, torch.randn(5, 4)).mean()).backward()
    (found,) = watched.found
    assert (found.call, found.leaf, found.leaves) == (1, "gradients", 4)
    assert found.status in ("equal", "within")


def test_what_is_used_outside_the_region_too_is_left_out(watched: Watched) -> None:
    net = Net()
    loss = watched(net, torch.randn(5, 4)).sum() + net.first.weight.square().sum()
    loss.backward()
    assert watched.said() == [(0, "gradients", "equal", 3)]


def test_each_pass_over_a_kept_graph_is_compared(watched: Watched) -> None:
    value = watched(Net(), torch.randn(5, 4))
    value.sum().backward(retain_graph=True)
    value.square().sum().backward()
    leaves = [one.leaf for one in watched.found]
    assert leaves == ["gradients", "gradients, backward pass 2"]


def test_gradients_that_are_asked_for_are_compared_and_only_those(watched: Watched) -> None:
    net = Net()
    value = watched(net, torch.randn(5, 4), code=wrong(net))
    torch.autograd.grad(value.sum(), [net.first.weight, net.second.bias])
    assert [one[1:] for one in watched.said()] == [
        ("gradient of first.weight", "differs", 1),
        ("gradients", "equal", 1),
    ]


def test_a_gradient_that_one_side_lacks_differs(watched: Watched) -> None:
    net = Net()

    def detached(x: torch.Tensor) -> torch.Tensor:
        return net.second(torch.relu(net.first(x)).detach())

    watched(net, torch.randn(5, 4), code=detached).sum().backward()
    differs = [(one.leaf, one.why) for one in watched.found if one.status == "differs"]
    why = "eager has a gradient, compiled has none"
    assert differs == [("gradient of first.weight", why), ("gradient of first.bias", why)]


class Both(Net):
    def forward(self, x: torch.Tensor) -> Any:
        logits = super().forward(x)
        return {"logits": logits, "loss": logits.square().mean()}


def test_outputs_that_depend_on_each_other_are_told_apart_or_left_out(watched: Watched) -> None:
    net = Both()
    watched(net, torch.randn(5, 4))["loss"].backward()
    assert watched.said() == [(0, "gradients", "equal", 4)]
    both = watched(net, torch.randn(5, 4))
    (both["loss"] + both["logits"].sum()).backward()
    assert watched.found[-1].why.startswith("what flows into this call's outputs cannot be told")


def test_a_bias_before_a_norm_has_a_gradient_of_rounding_only(watched: Watched) -> None:
    net = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 1))

    def other_order(x: torch.Tensor) -> torch.Tensor:
        return net(x.flip(0)).flip(0)

    watched(net, torch.randn(64, 4), code=other_order).square().sum().backward()
    assert {one.status for one in watched.found} == {"within"}


HISTORY: list[int] = []


class Appends(Net):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        HISTORY.append(1)
        return super().forward(x)


def test_a_call_that_cannot_be_copied_says_why(watched: Watched) -> None:
    net = Appends()
    watched(net, torch.randn(5, 4)).sum().backward()
    (found,) = watched.found
    assert (found.status, found.leaf) == ("not_compared", "gradients")
    assert "HISTORY (a list)" in found.why


def test_a_call_whose_outputs_get_no_gradient_leaves_no_line(watched: Watched) -> None:
    net = Net()
    watched(net, torch.randn(5, 4))
    with torch.no_grad():
        watched(net, torch.randn(5, 4))
    net(torch.randn(5, 4)).sum().backward()
    assert watched.found == []


@pytest.mark.slow
@pytest.mark.parametrize("factor", ["1.5", "1.0"])
def test_a_wrong_gradient_of_a_backend_is_found_and_a_right_one_holds(
    factor: str, tmp_path: Path
) -> None:
    target = support.program("gradients.py", factor)
    arms = support.arms(
        target, tmp_path, plan.eager, lambda terms: plan.correct(terms, 4, align_random=False)
    )
    found = judge_correct(arms, Contract(own_backend="custom"))
    assert arms["correct"].lost == ()
    if factor == "1.0":
        assert found.level.status == "holds"
        assert "outputs and 18 gradients of 4 calls agree with eager" in found.level.why
        return
    assert found.findings[0].slug == "gradient-differs"
    assert found.level.why.startswith(
        "a gradient differs from eager's: gradient of 0.weight in calls 0-2: error 5.00e-01"
    )
