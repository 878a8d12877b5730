"""Python imports this at its start where this folder is on ``PYTHONPATH``.

Activates the recorder, takes the folder off ``sys.path`` again, and runs the
``sitecustomize`` that this one hides.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120  pathlib costs start-up


def _activate() -> None:
    try:
        from compile_ledger.startup.boot import activate

        activate()
    except Exception as error:  # noqa: BLE001  the program goes on without us
        sys.stderr.write(f"compile-ledger: not recording: {type(error).__name__}: {error}\n")


def _run_hidden() -> None:
    """Run the next ``sitecustomize`` on the path, as Python would have."""
    sys.path[:] = [p for p in sys.path if os.path.abspath(p or ".") != _HERE]  # noqa: PTH100
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", sys.path)
    if spec is None or spec.loader is None:
        return
    module = importlib.util.module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


_activate()
_run_hidden()
