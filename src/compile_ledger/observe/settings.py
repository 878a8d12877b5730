"""Settings of ``torch._dynamo.config``: read by the recorder, changed by experiments only."""

from __future__ import annotations

from typing import Any

from .capabilities import MissingError


def recompile_limit() -> int | None:
    """The recompile limit as this thread sees it; None where this torch names it otherwise."""
    from torch._dynamo import config

    for name in ("recompile_limit", "cache_size_limit"):
        if hasattr(config, name):
            return int(getattr(config, name))
    return None


def change_setting(name: str, value: Any) -> None:
    """Set ``torch._dynamo.config.name`` in this thread; the settings are per thread.

    Raises :class:`MissingError` on a torch without that setting.
    """
    from torch._dynamo import config

    if not hasattr(config, name):
        msg = f"this torch has no setting torch._dynamo.config.{name}"
        raise MissingError(msg)
    setattr(config, name, value)
