"""Keeps eager's outputs on disk, one file a call, for the arms that compare."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

MOST_BYTES = 2**29
"""Bytes of tensors kept for one arm; further calls are not compared."""


class Store:
    """A folder of kept calls. Files are named by number, never by content."""

    def __init__(self, folder: Path) -> None:
        """Use ``folder``, made if needed."""
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.used = 0

    def _path(self, region: int, call: int, suffix: str) -> Path:
        return self.folder / f"{region}-{call}.{suffix}"

    def keep(self, region: int, call: int, content: dict[str, Any]) -> bool:
        """Keep a call's fingerprint and leaves; False when the room is used up."""
        import torch

        size = sum(x.numel() * x.element_size() for x in content["tensors"].values())
        if self.used + size > MOST_BYTES:
            return False
        self.used += size
        torch.save(content["tensors"], self._path(region, call, "pt"))
        texts = {k: v for k, v in content.items() if k != "tensors"}
        self._path(region, call, "json").write_bytes(msgspec.json.encode(texts))
        return True

    def load(self, region: int, call: int) -> dict[str, Any] | None:
        """A kept call, or None. Written by our own arm; read without pickle all the same."""
        import torch

        path = self._path(region, call, "json")
        if not path.is_file():
            return None
        content: dict[str, Any] = msgspec.json.decode(path.read_bytes())
        content["tensors"] = torch.load(self._path(region, call, "pt"), weights_only=True)
        return content


def needs_drift(folder: Path) -> bool:
    """Whether a kept call trained what it holds and cannot be made again on a copy."""
    kept = (msgspec.json.decode(path.read_bytes()) for path in folder.glob("*.json"))
    return any(content.get("trains_uncopied") for content in kept)


def draws_random(folder: Path) -> bool:
    """Whether any kept call used random numbers (so that streams must be aligned)."""
    kept = (msgspec.json.decode(path.read_bytes()) for path in folder.glob("*.json"))
    return any(content.get("random_used") for content in kept)
