"""A recompile limit that was raised where it does not count."""

from __future__ import annotations

import dataclasses

from compile_ledger.facts.arm import Arm
from compile_ledger.facts.calls import Counters
from compile_ledger.judge.document import Finding
from compile_ledger.judge.stable.limit_without_effect import raised_in_vain
from compile_ledger.judge.view import look

from . import make


def notes(arm: Arm) -> list[Finding]:
    (hit,) = (c for c in arm.compiles if c.outcome == "refused")
    return list(raised_in_vain(look(arm), hit))


def with_limits(made: int | None, end: int | None) -> Arm:
    arm = make.chapter("capture")
    regions = tuple(dataclasses.replace(r, recompile_limit=made) for r in arm.regions)
    return dataclasses.replace(arm, regions=regions, counters=Counters(0, recompile_limit=end))


def test_higher_limit_in_the_thread_that_made_the_region_names_both() -> None:
    (note,) = notes(with_limits(32, 8))
    assert (note.slug, note.severity) == ("limit-without-effect", "note")
    assert (note.expected, note.actual) == ("32", "8")
    assert "the setting is per thread" in note.sentence


def test_limit_raised_after_the_hit_says_so() -> None:
    (note,) = notes(with_limits(8, 64))
    assert "does not compile that code again" in note.sentence


def test_same_limit_everywhere_is_no_finding() -> None:
    assert not notes(with_limits(8, 8))


def test_unknown_limits_are_no_finding() -> None:
    assert not notes(with_limits(None, None))
