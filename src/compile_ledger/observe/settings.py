"""Changes one setting of ``torch._dynamo.config`` for an experiment's arm."""

from __future__ import annotations

from typing import Any

from .capabilities import MissingError


def change_setting(name: str, value: Any) -> None:
    """Set ``torch._dynamo.config.name`` in this thread; the settings are per thread.

    Raises :class:`MissingError` on a torch without that setting.
    """
    from torch._dynamo import config

    if not hasattr(config, name):
        msg = f"this torch has no setting torch._dynamo.config.{name}"
        raise MissingError(msg)
    setattr(config, name, value)
