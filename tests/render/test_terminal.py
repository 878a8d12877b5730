"""The terminal form: content, the 80 columns, plain pipes, and a stranger's texts."""

from __future__ import annotations

import io
import itertools
from dataclasses import replace
from typing import Any

import pytest
from rich.cells import cell_len
from rich.console import Console

from compile_ledger.judge.document import Cell, Ledger, LevelName, Line, NotMeasured
from compile_ledger.render.terminal import summary, terminal

from . import samples
from .all_samples import SAMPLES
from .hostile import poisoned
from .sample_failures import breaks, eager_raises, interrupted, not_worth_it
from .sample_varlen import clean, varlen

EVERY = pytest.mark.parametrize("name", SAMPLES)
HOSTILE = "\x1b[31m\r\n\u202e[bold]:smile: 漢字 " + "x" * 200


def shown(ledger: Ledger, width: int = 80, encoding: str = "utf-8") -> str:
    raw = io.BytesIO()
    file = io.TextIOWrapper(raw, encoding=encoding, newline="\n")
    terminal(ledger, Console(file=file, width=width))
    file.flush()
    return raw.getvalue().decode(encoding)


def flat(ledger: Ledger) -> str:
    return " ".join(shown(ledger).split())


@EVERY
@pytest.mark.parametrize("width", [60, 80, 200])
def test_no_line_is_wider_than_80_columns_or_the_console(name: str, width: int) -> None:
    for line in shown(SAMPLES[name](), width).splitlines():
        assert cell_len(line) <= min(width, 80), line
        assert line == line.rstrip()


@EVERY
def test_a_strangers_texts_stay_inside_the_page(name: str) -> None:
    page = shown(poisoned(SAMPLES[name](), HOSTILE))
    assert all(cell_len(line) <= 80 for line in page.splitlines())
    assert "[bold]" in page
    assert ":smile:" in page
    for forbidden in ("\x1b", "\r", "\u202e"):
        assert forbidden not in page


@EVERY
def test_a_console_that_is_not_utf8_gets_ascii(name: str) -> None:
    page = shown(poisoned(SAMPLES[name](), " ü"), encoding="latin-1")
    assert page.isascii()
    assert "\\xfc" in page


def test_the_verdict_comes_first_with_cause_place_cost_and_experiment() -> None:
    head = " ".join(shown(varlen()).partition("\n\n")[0].split())
    assert head == (
        "✗ STABLE fails: idx axis 1 took 12 distinct lengths in 13 calls and filled the 8 entries "
        "of the line where /srv/app/examples/varlen_service.py:58 cost 6.85 s CPU in calls that "
        "compiled (arm capture); 4 of 13 calls not fully compiled experiment diagnosis holds: "
        "8 compiles became 2, no call refused, settled after call 1 next leave dynamic=False out "
        "of torch.compile, at /srv/app/examples/varlen_service.py:58 "
        "(tested: 2 compiles instead of 8)"
    )


def test_calls_that_entries_served_are_not_said_to_be_captured_whole() -> None:
    ledger = varlen()
    assert ledger.diagnosis
    levels: tuple[LevelName, ...] = ("STABLE", "CAPTURED")
    served: tuple[dict[Any, int], ...] = ({"reused": 13}, {"switched_off": 1, "reused": 12})
    for level, dispositions in itertools.product(levels, served):
        regions = tuple(replace(one, dispositions=dispositions) for one in ledger.regions)
        diagnosis = replace(ledger.diagnosis, level=level)
        head = shown(replace(ledger, regions=regions, diagnosis=diagnosis)).partition("\n\n")[0]
        assert ("of 13 calls not fully" in " ".join(head.split())) is (level == "STABLE")
    regions = tuple(replace(one, dispositions={"skipped": 13}) for one in ledger.regions)
    diagnosis = replace(ledger.diagnosis, level="CAPTURED")
    head = shown(replace(ledger, regions=regions, diagnosis=diagnosis)).partition("\n\n")[0]
    assert "13 of 13 calls not fully" in " ".join(head.split())


def test_a_clean_run_says_so_in_its_first_line() -> None:
    first = shown(clean()).splitlines()[0]
    assert first.startswith("✓ No level fails: RUNS, CORRECT, CAPTURED, STABLE and WORTH IT hold.")


def test_eager_that_raises_shows_the_exception_and_the_users_lines() -> None:
    page = shown(eager_raises())
    assert page.startswith("✗ RUNS fails: an ordinary bug: eager raises too")
    assert "raised      RuntimeError: mat1 and mat2 shapes cannot be multiplied" in page
    assert "/srv/app/serving/model.py:27 in forward" in page


def test_an_interrupted_run_never_reads_as_a_pass() -> None:
    page = shown(interrupted())
    assert page.startswith("? RUNS is not measured: interrupted before this arm ran")
    assert "holds" not in page
    assert "✓" not in page


def test_later_gaps_leave_the_verdict_qualified() -> None:
    levels = (*clean().levels[:4], varlen().levels[4])
    assert flat(replace(clean(), levels=levels)).startswith(
        "? No measured level fails: RUNS, CORRECT, CAPTURED and STABLE hold. WORTH IT is not "
        "measured: the audit stops at the first failing level."
    )


@EVERY
def test_the_five_levels_stand_in_order_with_words(name: str) -> None:
    ledger = SAMPLES[name]()
    lines = [line for line in shown(ledger).partition("\n\n")[2].splitlines() if line[:1] in "✓✗?~"]
    words = {"holds": "holds", "fails": "fails", "not_measured": "not measured"}
    expected = [
        f"{level.level.replace('_', ' '):<10}{words[level.status]}" for level in ledger.levels
    ]
    assert [line[2 : 2 + len(e)] for line, e in zip(lines, expected, strict=False)] == expected


def test_the_strip_has_a_letter_a_call_and_a_legend_of_what_occurs() -> None:
    page = shown(varlen())
    assert "       0  CRRRRR·RRXEEE\n" in page
    assert "       0  CR···········\n" in page
    assert "E fell back (eager: no entry took it)" in page
    assert "switched off (" not in page


def test_long_strips_show_the_worst_of_several_calls() -> None:
    page = shown(not_worth_it())
    assert "cold: 2,000 calls; a letter is the worst of 9" in page
    assert "   1,620  ·" in page


def test_the_ledger_has_every_cell_with_its_instrument_or_its_reason() -> None:
    page = flat(varlen())
    assert "graphs per steady call: 1 [entry runs]" in page
    assert "cold, warm, steady state: not measured: the audit stops at the first failing" in page


def test_findings_are_ranked_and_ignorable_notes_are_labelled() -> None:
    page = shown(varlen())
    order = [page.index(slug) for slug in ("✗ recompile-shape", "✗ cache-limit", "✗ silent-eager")]
    assert order == sorted(order)
    assert "can be ignored: it settled; its cost is shown" in shown(clean())


def test_a_cache_line_has_its_entries_in_lookup_order_with_what_differs() -> None:
    page = flat(varlen())
    assert "CACHE LINES (entries in the order in which a call asks them)" in page
    assert (
        "forward /srv/app/model.py:31 runs only what it has since 0/8; 8 entries; 0 compiles left "
        "before recompile_limit (8) why: Dynamo recompile limit exceeded 0/7 61 ops, 1 run, "
        "refused 1×: idx size [1, 55] 0/6 61 ops"
    ) in page
    assert "+ 38 assumptions in every entry" in page
    assert page.index("forward /srv") < page.index("helper (called)")


def test_an_entry_that_is_gone_and_entries_that_were_counted_are_told() -> None:
    page = flat(varlen())
    assert "on; 9 entries, 1 of them invalidated; compiles left: not measured" in page
    assert "3/0 invalidated: L['k'] got deallocated" in page
    assert "and 7 more entries" in page


def test_breaks_show_frequency_and_cost_or_why_not() -> None:
    page = flat(breaks())
    assert "per call: 1.00; cost: 21.0 µs CPU per call [15.5 µs to 26.9 µs]" in page
    assert "per call: not measured; cost: not measured: no arm without the break was run" in page


def test_experiments_stand_before_and_after() -> None:
    rows = [line.split() for line in shown(varlen()).splitlines()]
    assert ["before", "8", "7", "1", "3", "0", "no", "6.85", "s"] in rows
    assert ["after", "2", "1", "0", "0", "0", "yes", "3.90", "s"] in rows


def test_commands_wrap_so_that_they_can_be_pasted() -> None:
    command = "compile-ledger audit --full " + " ".join(f"--option-{n}=value" for n in range(12))
    ledger = samples.ledger(not_measured=(NotMeasured("cost", "too slow", command),))
    lines = [line for line in shown(ledger).splitlines() if "--" in line]
    assert all(line.endswith(" \\") for line in lines[:-1])
    assert " ".join("".join(lines).replace("$ ", "").replace(" \\", " ").split()) == command


def test_neighbours_with_one_instrument_share_a_line() -> None:
    cells = (Cell("compiles", "8", "records"), Cell("refused", "1", "records"))
    page = shown(samples.ledger(lines=(Line("stability", cells),)))
    assert "  stability    compiles: 8; refused: 1 [records]\n" in page


def test_a_recorder_that_most_cells_name_is_named_once() -> None:
    made = [Cell(name, "1", f"{name} (recorder, torch 2.13.0)") for name in ("a", "b", "c")]
    lines = (Line("capture", (*made, Cell("d", "1", "explain (torch)"))),)
    page = shown(samples.ledger(lines=lines))
    assert "LEDGER (value [instrument, of recorder, torch 2.13.0]) ─" in page
    assert "a: 1 [a]\n" in page
    assert "d: 1 [explain (torch)]\n" in page


def test_a_level_that_is_named_as_a_gap_is_not_named_twice() -> None:
    ledger = replace(interrupted(), not_measured=(NotMeasured("RUNS", "Ctrl-C", "run it"),))
    assert shown(ledger).count("$ ") == 1


def test_the_summary_is_the_top_of_the_page() -> None:
    console = Console(file=io.StringIO(), width=80)
    summary(varlen(), console)
    assert isinstance(console.file, io.StringIO)
    top = console.file.getvalue()
    assert shown(varlen()).startswith(top)
    assert top.splitlines()[-1].startswith("? WORTH IT  not measured")


def test_long_paths_are_cut_from_the_left() -> None:
    where = "…/serving/blocks/a/long/way/down/the/tree/of/packages/norm.py:112"
    assert where in shown(breaks())
