"""Silent calls by frame: what the interpreter counted goes before what subtraction says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from compile_ledger.facts.arm import Arm
from compile_ledger.facts.calls import Counters, EagerRuns, EntryRuns, RegionCalls
from compile_ledger.facts.compile import Compile
from compile_ledger.judge.document import Finding
from compile_ledger.judge.lines import stability_line
from compile_ledger.judge.rows import code_object_rows, region_rows
from compile_ledger.judge.stable.silent import counted_on, silent_after, silent_on, subtracted_on
from compile_ledger.judge.view import look
from compile_ledger.read.live import Live
from compile_ledger.read.progress import rows

from . import make
from .stable_arms import judged

ROOT, OTHER, RESUME = 0, 1, 2
LIMIT: dict[str, Any] = {"limit": "recompile_limit", "limit_value": 8, "entries_before": 8}


def refused(code: int, region: int) -> Compile:
    return make.compile_at(9, "refused", code_object=code, region=region, **LIMIT)


def recorded(*eager: EagerRuns, silent: int | None = 30, **fields: Any) -> Arm:
    """Two regions of 100 calls; a limit was hit on the second's root and in the first's resume."""
    first = make.compile_at(0)
    other = make.compile_at(0, code_object=OTHER, region=1, compile_id="1/0")
    resume = make.compile_at(0, code_object=RESUME, compile_id="2/0")
    counters = Counters(
        at_ns=10_000,
        regions=(RegionCalls(0, 100), RegionCalls(1, 100)),
        entries=(
            EntryRuns(ROOT, "0/0", 100),
            EntryRuns(OTHER, "1/0", 79),
            EntryRuns(RESUME, "2/0", 89),
        ),
        lookups=None if silent is None else 297,
        silent=silent,
        eager=eager,
    )
    base: dict[str, Any] = {
        "regions": (make.region(), make.region(1, "other", root=OTHER)),
        "code_objects": (make.code(), make.code(OTHER, "other"), make.code(RESUME, "resume")),
        "calls": (),
        "compiles": (first, other, resume, refused(OTHER, 1), refused(RESUME, 0)),
        "counters": counters,
    }
    return make.healthy("recorded", **{**base, **fields})


BOTH = (EagerRuns(OTHER, 21, 20), EagerRuns(RESUME, 11, 10))


def silent_findings(arm: Arm) -> dict[int | None, Finding]:
    return {f.code_object: f for f in judged(arm).findings if f.slug == "silent-eager"}


def test_each_frame_past_a_limit_has_its_own_number() -> None:
    view = look(recorded(*BOTH))
    assert [silent_after(view, code) for code in (OTHER, RESUME)] == [(20, True), (10, True)]
    found = silent_findings(recorded(*BOTH))
    assert found[OTHER].sentence == "20 calls of 100 of other ran eagerly, unannounced"
    assert found[RESUME].sentence == "10 runs of resume were eager, unannounced"
    assert "eager runs (recorder" in found[RESUME].evidence[0].instrument
    assert [row.silent for row in code_object_rows(view)] == [None, 20, 10]


def test_a_resume_function_gives_its_region_silent_calls() -> None:
    told = [row.dispositions["fell_back"] for row in region_rows(look(recorded(*BOTH)))]
    assert told == [10, 20]
    unseen = [row.dispositions["fell_back"] for row in region_rows(look(recorded()))]
    assert unseen == [0, 20]


def test_subtraction_stands_where_nothing_was_counted() -> None:
    view = look(recorded())
    assert (counted_on(view, OTHER), subtracted_on(view, OTHER)) == (None, 20)
    assert silent_on(view, OTHER) == 20


def test_both_are_shown_where_they_disagree() -> None:
    found = silent_findings(recorded(EagerRuns(OTHER, 18, 17), BOTH[1]))[OTHER]
    assert found.count == 17
    both = (
        "17 calls of 100 of other ran eagerly, unannounced (calls less entry runs and misses: 20)"
    )
    assert found.sentence == both


def test_a_limit_from_before_the_recording_fails_by_its_eager_runs() -> None:
    arm = recorded(*BOTH, compiles=(make.compile_at(0),))
    found = silent_findings(arm)
    assert set(found) == {OTHER, RESUME}
    assert found[RESUME].sentence == (
        "10 runs of resume were eager, unannounced: a limit was hit before the recording began"
    )
    quiet = recorded(EagerRuns(RESUME, 0, 0), silent=0, compiles=(make.compile_at(0),))
    assert not silent_findings(quiet)


def test_lookups_beyond_what_was_counted_past_limits_are_told_apart() -> None:
    arm = recorded(*BOTH, silent=35, compiles=(make.compile_at(0),))
    rest = silent_findings(arm)[None]
    assert rest.sentence.startswith("5 lookups found no entry")


def test_without_lookups_the_number_is_a_lower_bound() -> None:
    arm = recorded(*BOTH, silent=None)
    cells = {c.name: c for c in stability_line(look(arm), judged(arm).level).cells}
    assert cells["fell back"].value == "at least 30"
    unseen = recorded(silent=None)
    cells = {c.name: c for c in stability_line(look(unseen), judged(unseen).level).cells}
    assert cells["fell back"].value is None


def test_watch_shows_the_silent_calls_of_each_region() -> None:
    arm = recorded(*BOTH)
    live = Live(Path("runs"), counters=arm.counters, compiles=list(arm.compiles))
    assert [row.outcomes.get("fell_back") for row in rows(live)] == [10, 20]
    live.counters = recorded().counters
    assert [row.outcomes.get("fell_back") for row in rows(live)] == [None, None]
