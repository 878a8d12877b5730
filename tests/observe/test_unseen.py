"""What torch logs and what a traceback shows is the same with and without the recorder."""

import re
import sys
from pathlib import Path

import pytest

from .support import Run

LOUD = {
    "TORCH_LOGS": "graph_breaks,recompiles,dynamic,graph_code",
    "TORCHDYNAMO_VERBOSE": "1",
}
_CHANGES = re.compile(r"0x[0-9a-f]+|(?<=compiled_fn_)\w+|^[VIWE]\d{4} [\d:.]+ \d+", re.MULTILINE)
"""Addresses, random names, and the time and process of a log line."""


@pytest.mark.skipif(sys.version_info < (3, 11), reason="a bare raise keeps the frame on 3.10")
def test_logs_and_tracebacks_are_as_without_us(run: Run, tmp_path: Path) -> None:
    bare = run("loud.py", env=LOUD, code=1).stderr
    recorded = run("-m", "compile_ledger", "record", "-o", "out", "loud.py", env=LOUD, code=1)
    assert bare.count("Traceback") > 5
    assert "[__graph_breaks]" in bare
    assert "create_symbol" in bare
    assert _CHANGES.sub("", recorded.stderr) == _CHANGES.sub("", bare)
    assert len(list((tmp_path / "out").iterdir())) == 1
