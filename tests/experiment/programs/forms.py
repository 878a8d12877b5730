"""``torch.compile`` in each of its forms; the comment on a line names its region."""

from __future__ import annotations

import torch
from torch import nn

X = torch.ones(4)


def plain(x: torch.Tensor) -> torch.Tensor:
    return x + 1


@torch.compile(backend="eager", dynamic=False)  # decorated_with_arguments
def decorated_with_arguments(x: torch.Tensor) -> torch.Tensor:
    return x + 2


@torch.compile  # decorated_bare
def decorated_bare(x: torch.Tensor) -> torch.Tensor:
    return x + 3


class Scale(nn.Module):
    def __init__(self, by: float) -> None:
        super().__init__()
        self.by = nn.Parameter(torch.tensor(by))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.by


class Shift(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x - 1


class Service:
    def __init__(self) -> None:
        self.model = Scale(5.0)

    def answer(self, x: torch.Tensor) -> torch.Tensor:
        return self.model(x) + 1

    @torch.compile(backend="eager")  # Service.decorated
    def decorated(self, x: torch.Tensor) -> torch.Tensor:
        return x * 7


AT_IMPORT = torch.compile(plain, backend="eager", fullgraph=True)  # plain


def main() -> None:
    compiled = torch.compile(Scale(2.0), backend="aot_eager")  # Scale
    shift = Shift()
    shift.compile(backend="eager", dynamic=True)  # Shift
    service = Service()
    answer = torch.compile(service.answer, mode="reduce-overhead")  # Service.answer
    anonymous = torch.compile(lambda x: x + 9, options={"max_autotune": False})  # <lambda>
    for _ in range(2):
        AT_IMPORT(X)
        decorated_with_arguments(X)
        decorated_bare(X)
        compiled(X)
        shift(X)
        answer(X)
        service.decorated(X)
        anonymous(X)


if __name__ == "__main__":
    main()
