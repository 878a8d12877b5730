"""A decoder written by hand: causal attention, trained on token prediction, evaluated midway."""

import torch
from torch import nn


class Layer(nn.Module):
    """Attention and a perceptron."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.one, self.two = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
        )

    def forward(self, x):
        """Run it."""
        b, t, c = x.shape
        q, k, v = (
            p.view(b, t, self.heads, -1).transpose(1, 2) for p in self.qkv(self.one(x)).chunk(3, -1)
        )
        y = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(b, t, c))
        return x + self.mlp(self.two(x))


class Decoder(nn.Module):
    """A stack of layers over token embeddings."""

    def __init__(self, vocab=128, width=64, depth=2):
        super().__init__()
        self.tok, self.pos = nn.Embedding(vocab, width), nn.Embedding(64, width)
        self.layers = nn.ModuleList(Layer(width, 4) for _ in range(depth))
        self.head = nn.Linear(width, vocab, bias=False)

    def forward(self, ids, targets=None):
        """Run it."""
        x = self.tok(ids) + self.pos(torch.arange(ids.shape[1]))
        for layer in self.layers:
            x = layer(x)
        logits = self.head(x)
        if targets is None:
            return logits
        return nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten())


torch.manual_seed(0)
net = Decoder()
fast = torch.compile(net)
optimizer = torch.optim.AdamW(net.parameters(), lr=3e-4)
for number in range(14):
    ids = torch.randint(0, 128, (8, 33))
    loss = fast(ids[:, :-1].contiguous(), ids[:, 1:].contiguous())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if number % 5 == 4:
        net.eval()
        with torch.no_grad():
            fast(ids[:, :-1].contiguous(), ids[:, 1:].contiguous())
        net.train()
