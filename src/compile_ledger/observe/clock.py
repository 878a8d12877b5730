"""CPU time of the process and of the children that it has waited for."""

from __future__ import annotations

import time
from importlib import import_module
from typing import Any


def _resource() -> Any:
    """The ``resource`` module, which Windows does not have."""
    try:
        return import_module("resource")
    except ImportError:
        return None


resource: Any = _resource()


def children_cpu_ns() -> int:
    """CPU nanoseconds of ended children (compilers among them); 0 where unknown."""
    if resource is None:
        return 0
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return int((used.ru_utime + used.ru_stime) * 1e9)


def cpu_ns() -> int:
    """CPU nanoseconds of this process, all threads, and of its ended children."""
    return time.process_time_ns() + children_cpu_ns()


def peak_bytes() -> int | None:
    """The largest resident size that the process had, in bytes; None where unknown."""
    if resource is None:
        return None
    return int(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss) * 1024
