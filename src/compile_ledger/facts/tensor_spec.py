"""A tensor described by what guards ask of it, for questions without the tensor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, eq=False)
class TensorSpec:
    """A dense tensor that need not exist: size, stride, dtype, device, requires_grad.

    ``stride`` defaults to the contiguous one. ``dtype`` and ``device`` may be torch's
    objects or their names (``"float32"``, ``"cuda:1"``). Two specs are two tensors,
    one spec given twice is one tensor.
    """

    size: Sequence[int]
    stride: Sequence[int] | None = None
    dtype: Any = "float32"
    device: Any = "cpu"
    requires_grad: bool = False

    def __post_init__(self) -> None:
        """Bring every field to its plain form. Raises ``ValueError`` for a wrong stride."""
        size = tuple(int(n) for n in self.size)
        stride = contiguous(size) if self.stride is None else tuple(int(n) for n in self.stride)
        if len(size) != len(stride):
            msg = f"a stride of {len(stride)} numbers for a size of {len(size)}"
            raise ValueError(msg)
        object.__setattr__(self, "size", size)
        object.__setattr__(self, "stride", stride)
        object.__setattr__(self, "dtype", "torch." + str(self.dtype).removeprefix("torch."))
        object.__setattr__(self, "device", str(self.device))

    @property
    def device_index(self) -> int | None:
        """The number after the colon; an accelerator without one is number 0."""
        kind, _, number = self.device.partition(":")
        if number:
            return int(number)
        return None if kind in ("cpu", "meta") else 0

    def __repr__(self) -> str:
        """Short enough for a report."""
        grad = ", requires_grad" if self.requires_grad else ""
        return f"TensorSpec({list(self.size)}, {self.dtype}, {self.device}{grad})"


def contiguous(size: tuple[int, ...]) -> tuple[int, ...]:
    """The stride of a contiguous tensor of this size, as torch computes it."""
    stride = [1] * len(size)
    for axis in range(len(size) - 2, -1, -1):
        stride[axis] = stride[axis + 1] * max(size[axis + 1], 1)
    return tuple(stride)
