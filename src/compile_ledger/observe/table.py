"""The capability table of this torch: ``python -m compile_ledger.observe.table [--probe]``.

A process of its own, because installing the recorder changes the process. Prints one
JSON object: ``environment``, ``capabilities``, and with ``--probe`` ``behaviour``.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import asdict
from typing import Any

from .environment import environment
from .recording.late import remove
from .recording.recorder import Recorder


def table(*, probe: bool = False) -> dict[str, Any]:
    """What every instrument shows here, or why it is absent. Imports torch."""
    result: dict[str, Any] = {}
    if probe:  # First: the recorder keeps Dynamo away from functions of this package.
        from .probe import behaviour

        result["behaviour"] = behaviour()
    recorder = Recorder(os.devnull)
    recorder.start()
    remove(recorder.session)
    result["environment"] = asdict(environment())
    result["capabilities"] = [asdict(row) for row in recorder.capabilities.table.values()]
    return result


if __name__ == "__main__":
    try:
        json.dump(table(probe="--probe" in sys.argv), sys.stdout)
    except ModuleNotFoundError as error:
        sys.exit(f"{error.name} is not installed in this Python")
