"""The front door to torch's private API: every name is asked for before it is used.

An instrument is installed by :meth:`Capabilities.attempt`; when something that it
needs is missing, the table says so in words and the instrument stays out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from compile_ledger.facts.environment import Capability

if TYPE_CHECKING:
    from collections.abc import Callable


class MissingError(Exception):
    """Something private that this torch does not have."""


def need(owner: Any, *names: str) -> str:
    """The first of ``names`` that ``owner`` has. Raises :class:`MissingError`."""
    for name in names:
        if hasattr(owner, name):
            return name
    msg = f"{getattr(owner, '__name__', owner)} has no {' or '.join(names)}"
    raise MissingError(msg)


class Capabilities:
    """The capability table of one recorder, filled while it is installed."""

    def __init__(self) -> None:
        """Start with an empty table."""
        self.table: dict[str, Capability] = {}

    def attempt(self, name: str, shows: str, install: Callable[[], Any]) -> bool:
        """Run ``install``; note the instrument as present, or absent and why."""
        try:
            install()
        except Exception as error:  # noqa: BLE001  an absent instrument is a line of the table
            why = (
                str(error)
                if isinstance(error, MissingError)
                else f"{type(error).__name__}: {error}"
            )
            self.table[name] = Capability(name, present=False, why=why, shows=shows)
            return False
        self.table[name] = Capability(name, present=True, shows=shows)
        return True

    def has(self, name: str) -> bool:
        """Whether an instrument is in place."""
        found = self.table.get(name)
        return found is not None and found.present
