"""What CORRECT leaves out is named although the level holds."""

from __future__ import annotations

from compile_ledger.judge.ledger import judge

from . import make


def test_gradients_that_were_not_compared_are_listed_as_not_measured() -> None:
    left = make.agree("gradients", "not_compared", why="they are computed after the call")
    correct = make.healthy("correct", agreements=(make.agree(status="equal"), left))
    found = judge(make.arms(make.eager(), correct), make.INDUCTOR, tool_version="0")
    named = [missing.why for missing in found.not_measured if missing.what == "CORRECT, in part"]
    assert named == ["gradients: they are computed after the call"]
