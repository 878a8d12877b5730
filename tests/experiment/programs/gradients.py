"""A small training loop whose backend gives one parameter one and a half times its gradient."""

import sys
from typing import Any

import torch
from torch import nn
from torch._dynamo.backends.common import aot_autograd
from torch._functorch.aot_autograd import make_boxed_func

FACTOR = float(sys.argv[1])


def as_it_is(gm: Any, *_: Any) -> Any:
    return make_boxed_func(gm.forward)


def scaled(gm: Any, *_: Any) -> Any:
    def run(*args: Any) -> list[Any]:
        out = list(gm(*args))
        return [g * FACTOR if g is not None and g.shape == (12, 6) else g for g in out]

    return make_boxed_func(run)


torch.manual_seed(0)
net = nn.Sequential(nn.Linear(6, 12), nn.BatchNorm1d(12), nn.ReLU(), nn.Linear(12, 1))
model = torch.compile(net, backend=aot_autograd(fw_compiler=as_it_is, bw_compiler=scaled))
optimizer = torch.optim.Adam(net.parameters(), 1e-3)
for _ in range(4):
    loss = model(torch.randn(16, 6)).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
