"""A small residual network over an epoch whose last batch is smaller, three epochs."""

import torch
from torch import nn


class Block(nn.Module):
    """One block of the stack."""

    def __init__(self, width):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(width, width, 3, padding=1, bias=False), nn.BatchNorm2d(width), nn.ReLU(),
            nn.Conv2d(width, width, 3, padding=1, bias=False), nn.BatchNorm2d(width),
        )  # fmt: skip

    def forward(self, x):
        """Run it."""
        return torch.relu(x + self.body(x))


torch.manual_seed(0)
net = nn.Sequential(
    nn.Conv2d(3, 16, 3, padding=1), Block(16), Block(16), nn.AdaptiveAvgPool2d(1),
    nn.Flatten(), nn.Linear(16, 10),
)  # fmt: skip
data = torch.utils.data.TensorDataset(torch.randn(70, 3, 24, 24), torch.arange(70) % 10)
loader = torch.utils.data.DataLoader(data, batch_size=16)
fast = torch.compile(net)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for epoch in range(3):
    for x, y in loader:
        loss = nn.functional.cross_entropy(fast(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
