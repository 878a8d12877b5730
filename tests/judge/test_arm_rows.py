"""Rows of arms."""

from __future__ import annotations

from compile_ledger.judge.arm_rows import arm_rows

from . import make


def test_calls_of_several_threads_are_kept_in_the_order_in_which_they_began() -> None:
    calls = make.calls("c..")
    late_first = make.arm("cold", calls=(calls[2], calls[0], calls[1]))
    (row,) = arm_rows(make.arms(late_first))
    assert [call.index for call in row.calls] == [0, 1, 2]
