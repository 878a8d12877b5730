"""Reads the process's surroundings into an :class:`Environment`."""

from __future__ import annotations

import os
import platform
import re
import sys
from pathlib import Path

from compile_ledger.facts.environment import Environment

_PREFIXES = (
    "TORCH",
    "PYTORCH",
    "TRITON",
    "OMP_",
    "MKL_",
    "CUDA_",
    "COMPILE_LEDGER_",
)
_NAMES = ("CXX", "CC", "TMPDIR", "PYTHONHASHSEED", "RANK", "WORLD_SIZE", "LOCAL_RANK")
_SECRET = re.compile(r"key|token|secret|passw|credential|auth", re.IGNORECASE)


def cloak(name: str, value: str) -> str:
    """The value, or ``<cloaked>`` where the name says it may be a secret."""
    return "<cloaked>" if _SECRET.search(name) else value


def variables() -> dict[str, str]:
    """The environment variables that torch and its compilers read, cloaked."""
    named = ((n, v) for n, v in os.environ.items() if n.startswith(_PREFIXES) or n in _NAMES)
    return {name: cloak(name, value) for name, value in sorted(named)}


def _load() -> float | None:
    try:
        return os.getloadavg()[0]
    except OSError:
        return None


def _processor() -> str:
    try:
        with Path("/proc/cpuinfo").open(encoding="utf-8") as lines:
            names = (line.split(":", 1)[1].strip() for line in lines if "model name" in line)
            return next(names, platform.processor())
    except OSError:
        return platform.processor()


def environment(*, gently: bool = False) -> Environment:
    """What can be said of this process; torch's part is empty when torch is not imported.

    ``gently``: do not ask a device that the program has not used yet, because asking
    would start it, and a process that has started CUDA cannot fork.
    """
    torch = sys.modules.get("torch")
    return Environment(
        torch=str(getattr(torch, "__version__", "")),
        python=platform.python_version(),
        platform=platform.platform(),
        processor=_processor(),
        cores=os.cpu_count() or 0,
        threads=torch.get_num_threads() if torch else None,
        device=_device(torch, gently=gently),
        argv=tuple(sys.argv),
        variables=variables(),
        load=_load(),
    )


def _device(torch: object, *, gently: bool) -> str:
    cuda = getattr(torch, "cuda", None)
    if gently and cuda is not None and not cuda.is_initialized():
        built = getattr(getattr(torch, "version", None), "cuda", None)
        return "not asked" if built else "cpu"
    if cuda is None or not cuda.is_available():
        return "cpu"
    return str(cuda.get_device_name())
