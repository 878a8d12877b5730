"""A mixture of experts with dense routing: every expert runs, gates weigh them."""

import torch
from _common import batches
from torch import nn


class Mixture(nn.Module):
    """Gates over experts."""

    def __init__(self, width=64, experts=4):
        super().__init__()
        self.gate = nn.Linear(width, experts)
        self.up = nn.Parameter(torch.randn(experts, width, 2 * width) / 8)
        self.down = nn.Parameter(torch.randn(experts, 2 * width, width) / 8)

    def forward(self, x):
        """Run it."""
        weight, chosen = self.gate(x).softmax(-1).topk(2, -1)
        gates = torch.zeros(*x.shape[:-1], self.gate.out_features).scatter(-1, chosen, weight)
        h = nn.functional.silu(torch.einsum("btc,ecd->bted", x, self.up))
        return torch.einsum("bted,edc,bte->btc", h, self.down, gates)


net = nn.Sequential(Mixture(), nn.LayerNorm(64), Mixture())
fast = torch.compile(net)
optimizer = torch.optim.Adam(net.parameters())
for x in batches(12, 8, 32, 64):
    loss = (fast(x) - x).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
