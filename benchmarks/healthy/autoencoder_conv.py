"""A variational autoencoder with convolutions and its random draw."""

import torch
from _common import batches
from torch import nn


class Vae(nn.Module):
    """Mean and variance, a draw, and back."""

    def __init__(self):
        super().__init__()
        self.down = nn.Sequential(nn.Conv2d(1, 8, 4, 2, 1), nn.ReLU(), nn.Conv2d(8, 16, 4, 2, 1))
        self.mean, self.log = nn.Linear(16 * 49, 8), nn.Linear(16 * 49, 8)
        self.up = nn.Sequential(
            nn.Linear(8, 16 * 49), nn.Unflatten(1, (16, 7, 7)),
            nn.ConvTranspose2d(16, 8, 4, 2, 1), nn.ReLU(), nn.ConvTranspose2d(8, 1, 4, 2, 1),
        )  # fmt: skip

    def forward(self, x):
        """Run it."""
        h = self.down(x).flatten(1)
        mean, log = self.mean(h), self.log(h)
        z = mean + torch.randn_like(mean) * (0.5 * log).exp()
        kl = -0.5 * (1 + log - mean.pow(2) - log.exp()).sum(1).mean()
        return (self.up(z) - x).pow(2).sum((1, 2, 3)).mean() + kl


net = Vae()
fast = torch.compile(net)
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
for x in batches(12, 16, 1, 28, 28):
    loss = fast(x)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
