"""Ctrl-C, thousands of times, while compiled code runs: ``storm.py DIR TIMELINE``.

DIR ``-``: without the recorder.
"""

import contextlib
import logging
import signal
import sys
import time
from typing import Any

import torch

import compile_ledger

WANTED = 3000
SECONDS = 100.0
"""Enough for a busy machine; an idle one takes a twentieth of it."""


def function(x: Any) -> Any:
    return x + 1


def full(x: Any) -> Any:
    return x - 1


delivered = [0]


def interrupt(*_: object) -> None:
    delivered[0] += 1
    raise KeyboardInterrupt


def storm(compiled: Any, limited: Any, x: Any) -> None:
    """Interrupts, some of which torch's own destructors swallow; so each has its time."""
    end = time.monotonic() + SECONDS
    signal.signal(signal.SIGALRM, interrupt)
    while delivered[0] < WANTED and time.monotonic() < end:
        with contextlib.suppress(KeyboardInterrupt):
            signal.setitimer(signal.ITIMER_REAL, 0.0004)
            until = time.monotonic() + 0.002
            while time.monotonic() < until:
                compiled(x)
                limited(x)
    with contextlib.suppress(KeyboardInterrupt):
        signal.setitimer(signal.ITIMER_REAL, 0)


if sys.argv[1] != "-":
    compile_ledger.start(sys.argv[1], interval=0.05, timeline=int(sys.argv[2]))
compiled = torch.compile(function, backend="eager")
limited = torch.compile(full, backend="eager", dynamic=False)
torch._logging.set_logs(dynamo=logging.ERROR)
for size in range(13, 3, -1):
    limited(torch.ones(size))
x = torch.ones(4)
compiled(x)
storm(compiled, limited, x)
assert torch.equal(compiled(x), x + 1)
assert torch.equal(limited(x), x - 1)
compile_ledger.stop()
print(delivered[0])
