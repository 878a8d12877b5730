"""Ledger to text: one file an output form. Imports facts and the judged document only.

A new output form is one file and one line in :data:`FORMS`.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

FORMS: dict[str, str] = {
    "html": "html",
    "json": "to_json",
    "markdown": "markdown",
    "terminal": "terminal",
}
"""Name of a form, which is also its module here, to the function that renders it."""


def form(name: str) -> Any:
    """The function that renders form ``name``; its module is imported on first use.

    Every form takes the ledger first; ``terminal`` also takes the console that it
    prints to. Raises :class:`KeyError` for a name that is not in :data:`FORMS`.
    """
    function = FORMS[name]
    return getattr(import_module(f"{__name__}.{name}"), function)
