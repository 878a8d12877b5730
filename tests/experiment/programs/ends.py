"""A program that ends as its argument says, after two calls of a region."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch


def f(x: torch.Tensor) -> torch.Tensor:
    return x + 1


def kill() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def leave() -> None:
    sys.stderr.flush()
    os._exit(5)


def leave_well() -> None:
    os._exit(0)


def leave_round_it() -> None:
    """Only the function inside was called before: no region ran."""
    f(torch.ones(2))
    os._exit(0)


def fail() -> None:
    msg = "after the calls"
    raise RuntimeError(msg)


def start_a_child() -> None:
    """A child that outlives this process, its number in the file of the second argument."""
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    Path(sys.argv[2]).write_text(str(child.pid))


def hang() -> None:
    start_a_child()
    time.sleep(600)


def go_on() -> None:
    while True:
        compiled(torch.ones(2))


WAYS: dict[str, Callable[[], object]] = {
    "killed": kill,
    "exits": lambda: sys.exit(7),
    "exits-with-words": lambda: sys.exit("no more"),
    "leaves": leave,
    "leaves-well": leave_well,
    "raises": fail,
    "leaves-a-child": start_a_child,
    "hangs": hang,
    "never-ends": go_on,
    "waits": lambda: time.sleep(600),
    "returns": lambda: None,
}
compiled: Any = torch.compile(f, backend="eager")


def main() -> None:
    if sys.argv[1] == "leaves-round-it":
        leave_round_it()
    compiled(torch.ones(2))
    compiled(torch.ones(2))
    print("two calls", *sys.argv[1:])
    print("on stderr", file=sys.stderr)
    WAYS[sys.argv[1]]()


if __name__ == "__main__":
    main()
