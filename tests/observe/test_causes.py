"""The first cause of a break, where the runtime's reason is what followed from it."""

from pathlib import Path

import pytest

from compile_ledger.facts.graph_break import GraphBreak

from .support import PROGRAMS, Run, arms

SOURCE = (PROGRAMS / "causes.py").read_text().splitlines()


@pytest.fixture
def breaks(run: Run, tmp_path: Path) -> dict[str, GraphBreak]:
    """What broke, by the text of the line where it broke."""
    run("-m", "compile_ledger", "record", "-o", "out", "causes.py")
    (arm,) = arms(tmp_path / "out")
    if not any(c.name == "break-causes" and c.present for c in arm.capabilities):
        pytest.skip("this torch does not hand the exception to its log")
    found = [one for event in arm.compiles for one in event.breaks]
    return {SOURCE[one.place.line - 1].strip(): one for one in found if one.place}


def test_what_was_met_is_kept_with_what_followed(breaks: dict[str, GraphBreak]) -> None:
    left = {line: (one.block, one.left) for line, one in breaks.items()}
    assert left["y = y + y[0].item()"] == ("try", "frame")
    rest = breaks["log(y.sum().item())"]
    assert "item" in rest.reason
    assert (rest.block, rest.left, rest.rest_from) == ("try", "rest", rest.stack[-1].line - 1)
    assert "RNN" in breaks["return self.lstm(x)[0]"].reason
    inside = breaks["return x * 2 if x.sum() > 0 else x"]
    assert inside.operator.endswith("checkpoint")
    assert [place.function for place in inside.stack] == ["checkpointed", "block"]
    loop = breaks["x = x + 1 if x.shape[0] == 4 else x"]
    assert "branching" in loop.reason
    assert (loop.block, loop.left) == ("loop", "frame")
