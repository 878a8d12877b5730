"""A small training script: compiled model, evaluation under ``no_grad`` between steps.

The task is to tell whether a point lies inside a circle. Training and evaluation
use batches of one size, so that the only thing that changes between them is
whether gradients are recorded.

    python examples/train.py
    compile-ledger audit examples/train.py
"""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional

BATCH, STEPS, EVALUATE_EVERY = 256, 20, 5
RADIUS = 0.8


class Classifier(nn.Module):
    """A point of the plane to the logit of being inside."""

    def __init__(self) -> None:
        super().__init__()
        self.hidden = nn.Linear(2, 64)
        self.middle = nn.Linear(64, 64)
        self.out = nn.Linear(64, 1)

    def forward(self, points: torch.Tensor) -> torch.Tensor:
        """``[B, 2]`` to ``[B]``."""
        x = functional.gelu(self.hidden(points))
        x = functional.gelu(self.middle(x))
        return self.out(x).squeeze(1)


def batch(source: torch.Generator) -> tuple[torch.Tensor, torch.Tensor]:
    """Points of the square from -1 to 1, and 1.0 for those inside the circle."""
    points = 2 * torch.rand(BATCH, 2, generator=source) - 1
    inside = points.norm(dim=1) < RADIUS
    return points, inside.float()


def main() -> None:
    """Train, and print the held-out loss and accuracy as training goes on."""
    torch.manual_seed(0)
    training, held_out = torch.Generator().manual_seed(1), torch.Generator().manual_seed(2)
    test_points, test_labels = batch(held_out)

    model = Classifier()
    compiled = torch.compile(model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.02)

    for step in range(1, STEPS + 1):
        points, labels = batch(training)
        loss = functional.binary_cross_entropy_with_logits(compiled(points), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

        if step % EVALUATE_EVERY == 0:
            with torch.no_grad():
                logits = compiled(test_points)
            test_loss = functional.binary_cross_entropy_with_logits(logits, test_labels)
            accuracy = ((logits > 0) == (test_labels > 0)).float().mean()
            print(f"step {step:3d}  held-out loss {test_loss:.3f}  accuracy {accuracy:.2f}")


if __name__ == "__main__":
    main()
