"""A small transformer that serves thirteen requests of varying length.

The controlled workload: it captures as one graph, and the sequence length is the
one thing that varies. Compiled for static shapes, each new length compiles again
until the limit of eight; every answer stays correct.

    python examples/varlen_service.py
    compile-ledger audit examples/varlen_service.py
    compile-ledger audit examples/varlen_service.py:workload
"""

from __future__ import annotations

import argparse
import time
from typing import TYPE_CHECKING

import torch
from torch import nn
from torch.nn import functional

if TYPE_CHECKING:
    from collections.abc import Iterator

    from compile_ledger import Workload

VOCABULARY, DIM, HEADS, BLOCKS, LONGEST = 512, 128, 4, 4, 128
LENGTHS = (60, 63, 69, 16, 19, 75, 19, 55, 25, 35, 37, 66, 52)
POLICIES = {"none": None, "false": False, "true": True}


class Block(nn.Module):
    """Pre-norm causal self-attention, then a feed-forward layer, each with its residual."""

    def __init__(self) -> None:
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(DIM), nn.LayerNorm(DIM)
        self.qkv = nn.Linear(DIM, 3 * DIM)
        self.proj = nn.Linear(DIM, DIM)
        self.mlp = nn.Sequential(nn.Linear(DIM, 4 * DIM), nn.GELU(), nn.Linear(4 * DIM, DIM))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """``[B, T, DIM]`` to the same shape."""
        b, t, e = x.shape
        qkv = self.qkv(self.ln1(x)).split(DIM, dim=-1)
        q, k, v = (part.view(b, t, HEADS, e // HEADS).transpose(1, 2) for part in qkv)
        a = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.proj(a.transpose(1, 2).reshape(b, t, e))
        return x + self.mlp(self.ln2(x))


class Transformer(nn.Module):
    """Token and position embeddings, a stack of blocks, an output projection."""

    def __init__(self) -> None:
        super().__init__()
        self.tokens = nn.Embedding(VOCABULARY, DIM)
        self.positions = nn.Embedding(LONGEST, DIM)
        self.blocks = nn.ModuleList(Block() for _ in range(BLOCKS))
        self.norm = nn.LayerNorm(DIM)
        self.head = nn.Linear(DIM, VOCABULARY)

    def forward(self, idx: torch.Tensor) -> torch.Tensor:
        """Token ids ``[B, T]`` to logits ``[B, T, VOCABULARY]``."""
        x = self.tokens(idx) + self.positions(torch.arange(idx.shape[1], device=idx.device))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


def load_model() -> Transformer:
    """The model with its fixed random weights."""
    torch.manual_seed(0)
    return Transformer().eval()


def requests() -> Iterator[torch.Tensor]:
    """One ``[1, T]`` tensor of token ids for each length."""
    source = torch.Generator().manual_seed(1)
    for length in LENGTHS:
        yield torch.randint(VOCABULARY, (1, length), generator=source)


def workload() -> Workload:
    """The same service in the form that ``compile-ledger audit FILE:workload`` takes."""
    from compile_ledger import Workload

    return Workload(
        fn=load_model(),
        calls=requests,
        compile={"dynamic": False},
        around_call=lambda _number, _target: torch.no_grad(),
    )


def main() -> None:
    """Load the model, compile it, serve."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dynamic", choices=POLICIES, default="false")
    options = parser.parse_args()

    model = load_model()
    compiled = torch.compile(model, dynamic=POLICIES[options.dynamic])
    for number, idx in enumerate(requests()):
        start = time.perf_counter()
        with torch.no_grad():
            compiled(idx)
        elapsed = 1000 * (time.perf_counter() - start)
        print(f"request {number:2d}  {idx.shape[1]:3d} tokens  {elapsed:8.1f} ms")


if __name__ == "__main__":
    main()
