"""A convolutional network with BatchNorm, trained, evaluated after each epoch."""

import torch
from _common import batches
from torch import nn

net = nn.Sequential(
    nn.Conv2d(3, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(),
    nn.Conv2d(16, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(),
    nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 10),
)  # fmt: skip
fast = torch.compile(net)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
for epoch in range(2):
    fast.train()
    for x in batches(8, 16, 3, 32, 32):
        loss = nn.functional.cross_entropy(fast(x), torch.arange(16) % 10)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    fast.eval()
    with torch.no_grad():
        for x in batches(4, 16, 3, 32, 32):
            fast(x)
