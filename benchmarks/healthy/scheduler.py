"""Warm-up and cosine decay of the learning rate."""

import torch
from _common import batches
from torch import nn

net = nn.Sequential(nn.Linear(64, 256), nn.GELU(), nn.LayerNorm(256), nn.Linear(256, 64))
fast = torch.compile(net)
optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
warm = torch.optim.lr_scheduler.LinearLR(optimizer, total_iters=4)
decay = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 12)
schedule = torch.optim.lr_scheduler.SequentialLR(optimizer, [warm, decay], [4])
for x in batches(16, 64, 64):
    loss = (fast(x) - x).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    schedule.step()
