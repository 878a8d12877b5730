"""Gradients accumulated over four batches, with dropout."""

import torch
from _common import batches
from torch import nn

net = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Dropout(0.1), nn.Linear(256, 8))
fast = torch.compile(net)
optimizer = torch.optim.AdamW(net.parameters())
for number, x in enumerate(batches(16, 64, 64)):
    (fast(x).pow(2).mean() / 4).backward()
    if number % 4 == 3:
        optimizer.step()
        optimizer.zero_grad()
