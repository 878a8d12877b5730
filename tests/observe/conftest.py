"""Recorders patch their process, so each runs in a process of its own."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from .support import PROGRAMS, Run


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Run Python with caches of this test's own; a name of a file in ``programs`` or ``-c``."""

    def started(*args: str, code: int = 0, **rest: Any) -> subprocess.CompletedProcess[str]:
        own = {path.name: str(path) for path in PROGRAMS.iterdir()}
        words = [own.get(word, word) for word in args]
        env = {
            **os.environ,
            "OMP_NUM_THREADS": "1",
            "TMPDIR": str(tmp_path),
            "TORCHINDUCTOR_CACHE_DIR": str(tmp_path / "inductor"),
            **rest.pop("env", {}),
        }
        done = subprocess.run(
            [sys.executable, *words],
            capture_output=True,
            text=True,
            check=False,
            cwd=rest.pop("cwd", tmp_path),
            env=env,
            timeout=rest.pop("timeout", 120),
            **rest,
        )
        assert done.returncode == code, done.stderr
        return done

    return started
