"""Makes calls, then ends as told: ``calls.py HOW N``."""

import atexit
import os
import signal
import sys
import time
from typing import Any

import torch


def function(x: Any) -> Any:
    return x * 2 + 1


def at_exit() -> None:
    """Registered before torch's compiler is imported, so run late."""
    for _ in range(3):
        compiled(torch.ones(2))


if sys.argv[1] == "atexit":
    atexit.register(at_exit)
compiled = torch.compile(function, backend="eager", dynamic=False)
how, number = sys.argv[1], int(sys.argv[2])
for size in range(number):
    compiled(torch.ones(2 + size % 12))
print("called")
sys.stdout.flush()
if how == "kill":
    time.sleep(1.0)
    os.kill(os.getpid(), signal.SIGKILL)
if how == "_exit":
    time.sleep(1.0)
    os._exit(7)
if how == "raise":
    raise ValueError(number)
if how == "exit":
    sys.exit(5)
