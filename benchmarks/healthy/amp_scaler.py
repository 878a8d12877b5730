"""Mixed precision with a GradScaler, gradients clipped."""

import torch
from _common import batches
from torch import nn

net = nn.Sequential(nn.Linear(64, 256), nn.GELU(), nn.LayerNorm(256), nn.Linear(256, 8))
fast = torch.compile(net)
optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
scaler = torch.amp.GradScaler("cpu")
for x in batches(12, 64, 64):
    optimizer.zero_grad()
    with torch.autocast("cpu", torch.bfloat16):
        loss = fast(x).float().pow(2).mean()
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()
