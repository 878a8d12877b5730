"""What a call was, from what its frames met."""

from __future__ import annotations

from collections.abc import Collection

from compile_ledger.facts.calls import WORST_FIRST, Disposition

_EXPLAINED = {"refused", "switched_off", "fell_back", "raised"}


def worst(seen: Collection[str], *, ran: bool, root: str) -> Disposition:
    """The worst of ``seen``; of a call that ran nothing and met nothing, its root tells.

    ``root``: ``on``, ``off`` or ``limit``, or empty where it is not known.
    """
    met = set(seen)
    if not ran and not met & _EXPLAINED:
        met.add({"limit": "fell_back", "off": "switched_off"}.get(root, "skipped"))
    return next((found for found in WORST_FIRST if found in met), "reused")
