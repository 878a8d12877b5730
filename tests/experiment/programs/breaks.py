"""Workloads that break: each for one reason, or for one that hides another."""

import logging
import warnings
from collections.abc import Callable

import torch

from compile_ledger import Workload

log = logging.getLogger("breaks")
log.addHandler(logging.NullHandler())
weight = torch.nn.Parameter(torch.ones(8))


def item(x: torch.Tensor) -> torch.Tensor:
    return x.sin() * x.sum().item()


def positive(x: torch.Tensor) -> torch.Tensor:
    return x.sin()[x > 0].cos()


def warns(x: torch.Tensor) -> torch.Tensor:
    y = x.sin()
    warnings.warn("now", stacklevel=1)
    return y.cos()


def logs(x: torch.Tensor) -> torch.Tensor:
    y = x.sin()
    log.warning("now")
    return y.cos()


def logs_by_the_module(x: torch.Tensor) -> torch.Tensor:
    y = x.sin()
    logging.debug("now %s", y.shape)  # noqa: LOG015  a call of the module's own function
    return y.cos()


def prints_in_a_loop(x: torch.Tensor) -> torch.Tensor:
    for number in range(3):
        x = x.sin()
        if number == 1:
            print(float(x.mean()))
    return x


def trains(x: torch.Tensor) -> torch.Tensor:
    loss = (x * weight).sin().sum()
    loss.backward()
    return loss.detach()


def branches_on_item(x: torch.Tensor) -> torch.Tensor:
    y = x.sin()
    if y.sum().item() > 0:
        return y.cos()
    return y.exp()


def branches(x: torch.Tensor) -> torch.Tensor:
    y = x.sin()
    return y.cos() if y.sum() > 0 else y.exp()


def of(fn: Callable[..., torch.Tensor], backend: str = "eager") -> Workload:
    calls = [(torch.linspace(0.1, 1, 8) * (1 + number % 3),) for number in range(8)]
    return Workload(fn, calls, {"backend": backend})


item_workload = of(item)
positive_workload = of(positive)
warns_workload = of(warns)
logs_workload = of(logs)
module_logs_workload = of(logs_by_the_module)
trains_workload = of(trains)
loop_workload = of(prints_in_a_loop)
branches_on_item_workload = of(branches_on_item)
branches_workload = of(branches)
