"""What the healthy programs share."""

import torch

torch.manual_seed(0)


def batches(number, *sizes):
    """``number`` random tensors, the same every time."""
    source = torch.Generator().manual_seed(1)
    for _ in range(number):
        yield torch.randn(*sizes, generator=source)
