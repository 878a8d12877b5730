"""The process and machine that a recording comes from."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Capability:
    """Whether this torch lets one instrument see what it looks for."""

    name: str
    """The instrument, e.g. ``entry-runs``."""
    present: bool
    why: str = ""
    """When absent: what is missing, in words for the user."""
    shows: str = ""
    """What the instrument shows when it is present."""


@dataclass(frozen=True, slots=True)
class Environment:
    """Versions, machine and settings; no value that looks like a secret."""

    torch: str = ""
    python: str = ""
    platform: str = ""
    processor: str = ""
    cores: int = 0
    threads: int | None = None
    """Intra-op threads of torch, ``torch.get_num_threads()``."""
    device: str = "cpu"
    """The accelerator's name, or ``cpu``."""
    argv: tuple[str, ...] = ()
    variables: dict[str, str] = field(default_factory=dict)
    """Environment variables that torch or its compilers read, cloaked where needed."""
    load: float | None = None
    """One-minute load average when the process started."""
