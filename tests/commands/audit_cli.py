"""Runs ``compile-ledger audit`` as a user does, and reads what it leaves."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

COMMAND = [sys.executable, "-m", "compile_ledger"]


@dataclass
class Done:
    """What one command did."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> dict[str, Any]:
        """stdout as the one JSON document that it must be."""
        return dict(json.loads(self.out))

    @property
    def said(self) -> str:
        """The one line that explains an exit code of 2."""
        (line,) = [x for x in self.err.splitlines() if x.startswith("compile-ledger: ")]
        return line


def command(*args: str | Path, cwd: Path, **env: str) -> Done:
    """Run a command in ``cwd``; variables are added to the environment."""
    done = subprocess.run(
        [*COMMAND, *map(str, args)],
        cwd=cwd,
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        check=False,
    )
    return Done(done.returncode, done.stdout, done.stderr)


def level(document: dict[str, Any], name: str) -> dict[str, Any]:
    """One level of a document."""
    return next(dict(one) for one in document["levels"] if one["level"] == name)


def statuses(document: dict[str, Any]) -> dict[str, str]:
    """The status of each level."""
    return {one["level"]: one["status"] for one in document["levels"]}
