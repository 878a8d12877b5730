"""The shared parts: words, dispositions, ranking, the headline, the table of forms."""

from __future__ import annotations

from dataclasses import replace
from itertools import zip_longest

import pytest

from compile_ledger.facts.calls import DISPOSITIONS
from compile_ledger.facts.place import Place
from compile_ledger.judge.document import CallRow, Finding, FindingCost, Interval, RegionRow
from compile_ledger.render import FORMS, form, words
from compile_ledger.render.dispositions import LONGEST_STRIP, LOOKS, strips, tally
from compile_ledger.render.headline import headline
from compile_ledger.render.html.curve import curve, steps
from compile_ledger.render.ranking import groups

from . import samples
from .sample_failures import breaks
from .sample_varlen import varlen


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, "not measured"),
        (0.0, "0 s"),
        (3e-7, "300 ns"),
        (4.12e-4, "412 µs"),
        (0.99999, "1.00 s"),
        (0.0081, "8.10 ms"),
        (21.44, "21.4 s"),
        (1234.4, "1,234 s"),
        (-0.002, "-2.00 ms"),
    ],
)
def test_seconds(value: float | None, expected: str) -> None:
    assert words.seconds(value) == expected


def test_an_interval_without_a_value_says_why() -> None:
    said = words.interval(Interval(why="no arm ran"), words.nanoseconds)
    assert said == "not measured: no arm ran"
    assert words.interval(Interval(2e6, 1e6, 3e6), words.nanoseconds) == (
        "2.00 ms [1.00 ms to 3.00 ms]"
    )


def test_a_reason_is_not_prefixed_twice() -> None:
    assert words.because("not measured", "not measured: no arm") == "not measured: no arm"


@pytest.mark.parametrize(
    ("file", "width", "expected"),
    [
        ("/home/me/app/serve.py", 0, "app/serve.py:3"),
        ("/opt/app/serve.py", 0, "/opt/app/serve.py:3"),
        ("/home/meother/serve.py", 0, "/home/meother/serve.py:3"),
        ("/opt/a/very/long/way/to/serve.py", 18, "…/to/serve.py:3"),
        ("/opt/" + "n" * 40 + ".py", 12, "…" + "n" * 6 + ".py:3"),
    ],
)
def test_place(file: str, width: int, expected: str) -> None:
    assert words.place(Place(file, 3), width, here="/home/me") == expected


def test_clean_shows_what_could_hide() -> None:
    assert words.clean("a\n  b\tc\x1b[0m\u202ed") == "a b c\\x1b[0m\\u202ed"
    assert words.clean_block("a\n    b\x00") == "a\n    b\\x00"


def test_every_disposition_has_its_own_letter() -> None:
    assert set(LOOKS) == set(DISPOSITIONS)
    assert len({look.letter for look in LOOKS.values()}) == len(DISPOSITIONS)


def test_a_strip_is_bounded_and_keeps_the_worst() -> None:
    letters = "C" + "." * 5_000 + "X" + "." * 5_000
    rows = samples.calls(letters, dict.fromkeys(letters, 1e-3))
    (strip,) = strips([samples.arm("cold", rows)])
    assert len(strip.cells) <= LONGEST_STRIP
    assert [cell.disposition for cell in strip.cells].count("refused") == 1
    assert tally(strip) == {"compiled": 1, "reused": 10_000, "refused": 1}
    assert [(run.first, run.last) for run in strip.runs][1] == (1, 5_000)


def test_regions_have_strips_of_their_own_and_eager_has_none() -> None:
    rows = (
        *samples.calls("C.", {"C": 1, ".": 0.1}),
        *samples.calls("CR", {"C": 1, "R": 1}, region=3),
    )
    skipped = samples.calls("ss", {"s": 0.1})
    eager = samples.arm("eager", samples.eager_calls(4, 0.1)), samples.arm("eager_again", skipped)
    made = strips([*eager, samples.arm("cold", rows)])
    assert [(strip.arm, strip.region, strip.calls) for strip in made] == [
        ("cold", 0, 2),
        ("cold", 3, 2),
    ]


def _rows(letters: dict[int, str]) -> tuple[CallRow, ...]:
    """Regions called in turn: every first call, every second call, as in a program's loop."""
    costs = dict.fromkeys("CR.XE!", 0.1)
    mine = [samples.calls(text, costs, region=region) for region, text in letters.items()]
    return tuple(call for turn in zip_longest(*mine) for call in turn if call)


def _region(number: int, line: int = 8) -> RegionRow:
    return replace(samples.region("C"), id=number, site=Place("serve.py", line), target="Net")


def test_regions_of_one_line_with_few_calls_share_a_strip_in_call_order() -> None:
    arm = samples.arm("cold", _rows({0: "C.", 1: "R.", 2: "XE"}))
    (strip,) = strips([arm], [_region(n) for n in range(3)])
    assert strip.label == "3 regions of Net at serve.py:8"
    assert "".join(LOOKS[cell.disposition].letter for cell in strip.cells) == "CRX··E"
    assert [cell.first for cell in strip.cells] == list(range(6))


def test_strips_of_regions_with_many_calls_are_told_apart() -> None:
    arm = samples.arm("cold", _rows({0: "C" + "." * 9, 1: "R" + "." * 9, 2: "C."}))
    made = strips([arm], [_region(0), _region(1), _region(2, line=9)])
    assert [strip.label for strip in made] == [
        "Net at serve.py:8, region 0",
        "Net at serve.py:8, region 1",
        "Net at serve.py:9",
    ]


def test_strips_that_lost_calls_come_first() -> None:
    arm = samples.arm("cold", _rows({0: "C...", 1: "C.E.", 2: "C!..", 3: "R..."}))
    made = strips([arm], [_region(n, line=n + 1) for n in range(4)])
    assert [strip.region for strip in made] == [2, 1, 0, 3]


def test_a_strip_is_in_the_order_of_the_regions_own_count() -> None:
    rows = samples.calls("CR.", dict.fromkeys("CR.", 0.1))
    (strip,) = strips([samples.arm("cold", (rows[2], rows[0], rows[1]))])
    assert [cell.first for cell in strip.cells] == [0, 1, 2]


def test_ranking_puts_failures_first_then_seconds_then_calls() -> None:
    def finding(slug: str, severity: str, cost: FindingCost) -> Finding:
        return Finding(slug, slug, "STABLE", severity, slug, cost=cost)  # type: ignore[arg-type]

    ranked = groups(
        [
            finding("settled", "note", FindingCost(90.0, 9)),
            finding("shared-line", "note", FindingCost(0.1, 0)),
            finding("silent-eager", "failure", FindingCost(None, 50)),
            finding("recompile-shape", "failure", FindingCost(3.0, 0)),
            finding("recompile-shape", "failure", FindingCost(1.5, 1)),
            finding("unheard-of", "failure", FindingCost()),
        ]
    )
    assert [group.slug for group in ranked] == [
        "recompile-shape",
        "silent-eager",
        "unheard-of",
        "shared-line",
        "settled",
    ]
    assert ranked[0].price == "4.50 s CPU, 1 call not fully compiled"
    assert (ranked[2].seconds, ranked[2].calls, ranked[2].price) == (None, None, "")


def test_the_headline_carries_the_unproven_level() -> None:
    assert headline(breaks()).remarks == ("CORRECT is unproven: --quick runs no compiled arm",)
    assert headline(replace(varlen(), provisional=True)).remarks[0].startswith("provisional")


@pytest.mark.parametrize(
    ("top", "whole", "expected"),
    [(7.0, False, [0, 2, 4, 6, 8]), (13, True, [0, 5, 10, 15]), (0.03, False, 4), (1, True, 2)],
)
def test_ticks_are_round_and_few(top: float, *, whole: bool, expected: list[float] | int) -> None:
    ticks = steps(top, whole=whole)
    assert ticks == expected if isinstance(expected, list) else len(ticks) == expected
    assert ticks[-1] >= top * 0.999


def test_the_curve_uses_a_stand_in_only_without_cold() -> None:
    assert [series.arm for series in curve(varlen().arms).series] == ["eager", "capture"]
    assert curve(()).why == "not measured: no arm has timed calls"


@pytest.mark.parametrize("name", FORMS)
def test_every_form_can_be_loaded_by_name(name: str) -> None:
    assert callable(form(name))


def test_an_unknown_form_is_a_key_error() -> None:
    with pytest.raises(KeyError, match="pdf"):
        form("pdf")


def test_a_kind_of_failure_points_at_its_explanation_and_notes_do_not() -> None:
    ranked = groups(varlen().findings)
    assert {group.pointer for group in ranked if group.severity == "note"} <= {""}
    failures = [group for group in ranked if group.severity == "failure"]
    assert [group.pointer for group in failures] == [
        f"docs/findings.md#{group.slug}" for group in failures
    ]
