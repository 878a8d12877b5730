"""Calls in children of every kind: ``children.py KIND...``."""

import multiprocessing
import os
import sys
import time
from typing import Any

import torch


def function(x: Any) -> Any:
    return x * 2 + 1


compiled = torch.compile(function, backend="eager", dynamic=False)


def work(calls: int) -> None:
    for _ in range(calls):
        compiled(torch.ones(3))


class Numbers(torch.utils.data.Dataset):
    def __len__(self) -> int:
        return 6

    def __getitem__(self, index: int) -> Any:
        return compiled(torch.ones(3)) * index


def forked(calls: int, *, idle: bool = False, leave: bool = False) -> None:
    pid = os.fork()
    if pid:
        os.waitpid(pid, 0)
        return
    if not idle:
        work(calls)
    if leave:
        time.sleep(0.7)
        os._exit(0)
    sys.exit(0)


def main() -> None:
    work(10)
    for kind in sys.argv[1:]:
        if kind in ("fork", "spawn"):
            context: Any = multiprocessing.get_context(kind)
            child = context.Process(target=work, args=(7,))
            child.start()
            child.join()
        elif kind == "loader":
            loader = torch.utils.data.DataLoader(Numbers(), num_workers=1, batch_size=3)
            print(sum(batch.sum().item() for batch in loader))
        else:
            forked(5, idle=kind == "idle", leave=kind == "leave")
    work(3)


if __name__ == "__main__":
    main()
