"""MobileNet of torchvision, trained."""

import torch
import torchvision
from _common import batches

model = torchvision.models.mobilenet_v3_small(weights=None, num_classes=10)
fast = torch.compile(model)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for x in batches(8, 4, 3, 64, 64):
    loss = torch.nn.functional.cross_entropy(fast(x), torch.arange(4))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
