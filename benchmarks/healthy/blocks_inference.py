"""Each block of a stack compiled by itself, served in inference mode."""

import torch
from _common import batches
from torch import nn


class Block(nn.Module):
    """One block of the stack."""

    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        """Run it."""
        return x + self.down(nn.functional.gelu(self.up(self.norm(x)), approximate="tanh"))


net = nn.Sequential(*[Block(128) for _ in range(4)]).eval()
for block in net:
    block.compile()
for x in batches(12, 32, 64, 128):
    with torch.inference_mode():
        net(x)
