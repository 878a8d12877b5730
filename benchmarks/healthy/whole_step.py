"""One function holds the forward pass, the loss and its gradients; the optimizer is compiled apart."""

import torch
from _common import batches
from torch import nn

net = nn.Sequential(nn.Linear(64, 256), nn.Tanh(), nn.Linear(256, 64))
optimizer = torch.optim.Adam(net.parameters(), lr=torch.tensor(1e-3))
forward = torch.compile(lambda x: (net(x) - x).pow(2).mean())
step = torch.compile(optimizer.step)
for x in batches(12, 64, 64):
    optimizer.zero_grad()
    forward(x).backward()
    step()
