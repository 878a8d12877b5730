"""Names of the instruments, as cells and evidence show them."""

from __future__ import annotations

from compile_ledger.facts.arm import Arm


def torch_of(arm: Arm | None) -> str:
    """The torch version that an arm ran; empty when its header is lost."""
    return arm.header.environment.torch if arm and arm.header else ""


def instrument(what: str, arm: Arm | None, where: str = "recorder") -> str:
    """``entry runs (recorder, torch 2.13.0)``."""
    version = torch_of(arm)
    return f"{what} ({where}, torch {version})" if version else f"{what} ({where})"
