"""A moving average of the weights, which is evaluated now and then."""

import torch
from _common import batches
from torch import nn

net = nn.Sequential(nn.Linear(64, 256), nn.SiLU(), nn.Linear(256, 64))
fast = torch.compile(net)
average = torch.optim.swa_utils.AveragedModel(
    net, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(0.99)
)
optimizer = torch.optim.Adam(net.parameters())
for number, x in enumerate(batches(16, 64, 64)):
    loss = (fast(x) - x).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    average.update_parameters(net)
    if number % 8 == 7:
        with torch.no_grad():
            average.module(x)
