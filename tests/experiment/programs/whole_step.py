"""A whole training step in one region; with ``twice`` the compiled one updates twice."""

import sys

import torch
from torch import nn

HOW = sys.argv[1]
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(6, 12), nn.BatchNorm1d(12), nn.ReLU(), nn.Linear(12, 1))
optimizer = torch.optim.Adam(net.parameters(), 1e-2)


@torch.compile(backend="aot_eager")
def step(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    optimizer.zero_grad()
    loss = (net(x) - y).square().mean()
    loss.backward()
    optimizer.step()
    if HOW == "twice" and torch.compiler.is_compiling():
        optimizer.step()
    return loss.detach()


for _ in range(5):
    step(torch.randn(16, 6), torch.randn(16, 1))
