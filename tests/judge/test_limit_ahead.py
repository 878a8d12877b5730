"""The limit before it is hit: compiles left, and when they are used up."""

from dataclasses import replace
from typing import Any

from compile_ledger.facts.arm import Arm
from compile_ledger.facts.cache_line import Budget, CodeLine, Entry, LineReading, LineState
from compile_ledger.judge.document import Finding
from compile_ledger.judge.ledger import judge
from compile_ledger.judge.stable.limit_ahead import budget_cell
from compile_ledger.judge.view import look
from compile_ledger.render.headline import headline

from . import make
from .stable_arms import judged, recompiling, sizes


def reading(entries: int, left: int, state: LineState = "on", **fields: Any) -> LineReading:
    line = CodeLine(
        "forward",
        "serve.py",
        3,
        entries=tuple(Entry(f"0/{n}") for n in range(entries)),
        state=state,
        budget=Budget(left, "recompile_limit", 8),
    )
    return LineReading(0, replace(line, **fields), "forward", (0,))


def ahead(arm: Arm) -> list[Finding]:
    return [found for found in judged(arm).findings if found.slug == "limit-ahead"]


def test_a_line_that_still_grows_is_told_when_it_is_full() -> None:
    arm = recompiling("c..rrrr", *sizes(4), cache_lines=(reading(5, 3),))
    (found,) = ahead(arm)
    assert found.severity == "note"
    assert found.sentence == (
        "forward has 5 entries and 3 of 8 left before recompile_limit; at the pace of the last "
        "3 calls (3 recompiles) a call is refused in about 4 calls; then calls that no entry "
        "takes run eagerly, unannounced"
    )


def test_a_line_that_is_nearly_full_is_told_without_a_pace() -> None:
    arm = make.healthy(cache_lines=(reading(6, 2),))
    (found,) = ahead(arm)
    assert "2 of 8 left before recompile_limit; then" in found.sentence
    assert judged(arm).level.status == "holds"


def full(left: int, reason: str, **fields: Any) -> str:
    arm = recompiling("crr" + "." * 9, reason, cache_lines=(reading(8 - left, left),), **fields)
    assert judged(arm).level.status == "holds"
    (found,) = ahead(arm)
    return found.sentence


def test_a_settled_line_without_room_says_what_the_next_new_value_will_do() -> None:
    size = make.size("x", 1, 4, 5)
    assert full(0, size) == (
        "forward: the next new length of x (axis 1) will run eagerly: 8 of 8 entries are used"
    )
    assert full(1, size) == (
        "forward: the next new length of x (axis 1) takes the last free entry, and the one after "
        "it will run eagerly: 7 of 8 entries are used"
    )
    dtype = "tensor 'x' dtype mismatch. expected Float, actual Half"
    assert "the next new dtype of x will run" in full(0, dtype)


def test_with_fullgraph_the_next_new_value_raises() -> None:
    strict = make.region(compile_kwargs={"fullgraph": "True"})
    assert "will raise, because of fullgraph=True: 8 of 8" in full(
        0, make.size("x", 1, 4, 5), regions=(strict,)
    )


def test_a_full_line_is_a_warning_at_the_top_of_the_report() -> None:
    arm = recompiling("crr" + "." * 9, make.size("x", 1, 4, 5), cache_lines=(reading(8, 0),))
    ledger = judge(make.arms(make.eager(), arm), make.EAGER_BACKEND, tool_version="test")
    assert any(r.startswith("warning: forward: the next new") for r in headline(ledger).remarks)


def test_values_that_are_few_by_nature_have_no_pace() -> None:
    dtype = "tensor 'x' dtype mismatch. expected Float, actual Half"
    assert not ahead(recompiling("cr.rr.", dtype, cache_lines=(reading(4, 4),)))


def test_a_settled_line_with_room_has_no_note() -> None:
    assert not ahead(make.healthy(cache_lines=(reading(2, 6),)))


def test_what_is_full_or_off_is_not_ahead() -> None:
    assert not ahead(make.chapter(cache_lines=(reading(8, 0, "run-only"),)))
    assert not ahead(make.healthy(cache_lines=(reading(7, 1, "off"),)))


def test_the_line_with_least_left_is_in_the_ledger_s_line() -> None:
    other = replace(reading(2, 6), code_object=1)
    arm = make.healthy(cache_lines=(other, reading(7, 1)))
    assert budget_cell(look(arm)).value == "1 of 8 left before recompile_limit (forward)"


def test_without_a_reading_the_cell_says_so() -> None:
    missing = budget_cell(look(make.healthy()))
    assert (missing.value, missing.why) == (None, "no cache line was read at the end of the run")
    unknown = make.healthy(cache_lines=(reading(1, 0, budget=Budget(None, why="old torch")),))
    assert budget_cell(look(unknown)).value is None


def test_nothing_is_left_of_a_line_that_is_off() -> None:
    off = make.healthy(cache_lines=(reading(2, 6, "off"),))
    assert budget_cell(look(off)).why == "switched off: nothing is compiled any more"
