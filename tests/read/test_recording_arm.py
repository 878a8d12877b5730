"""A recording read back: whole, cut short, damaged, newer than this version, or no recording."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from compile_ledger.facts.arm import Costs, Goodbye, Header, Lost, Toolchain
from compile_ledger.facts.calls import Call, Counters, EntryRuns, RegionCalls
from compile_ledger.facts.codec import FORMAT, VERSION, encode
from compile_ledger.facts.environment import Capability
from compile_ledger.facts.place import Raised
from compile_ledger.facts.region import CodeObject, Region
from compile_ledger.read.recording import NO_GOODBYE, RecordingError, read_arm

HEADER = Header(FORMAT, VERSION, "0.1.0", 7, arm="capture")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "arm.ledger.jsonl"


def write(path: Path, *facts: Any, tail: bytes = b"") -> Path:
    path.write_bytes(b"".join(encode(fact) for fact in facts) + tail)
    return path


def test_a_whole_recording_is_its_facts_in_order(path: Path) -> None:
    facts = (
        HEADER,
        Capability("entry-runs", present=True),
        Region(0, "encode", root=3),
        CodeObject(3, "encode", "serve.py", 9),
        Call(0, 0, "compiled"),
        Call(0, 1, "reused"),
        Lost("hook", "it raised"),
        Toolchain("found"),
        Costs(import_torch=5),
        Goodbye("finished", 900, exit_code=4, cpu_ns=30, children_cpu_ns=12, peak_bytes=2**20),
    )
    arm = read_arm(write(path, *facts))
    assert (arm.name, arm.status, arm.why, arm.exit_code) == ("capture", "finished", "", 4)
    assert (arm.header, arm.capabilities) == (HEADER, facts[1:2])
    assert (arm.regions, arm.code_objects, arm.calls) == (facts[2:3], facts[3:4], facts[4:6])
    assert (arm.lost, arm.toolchain, arm.costs) == (facts[6:7], facts[7], facts[8])
    assert (arm.wall_ns, arm.cpu_ns, arm.peak_bytes) == (900, 42, 2**20)
    assert arm.ran
    assert not arm.damage


def test_a_given_name_and_change_replace_the_recorded_name(path: Path) -> None:
    arm = read_arm(write(path, HEADER), "experiment:mark", "dynamic=None")
    assert (arm.name, arm.change) == ("experiment:mark", "dynamic=None")


def test_an_arm_without_a_goodbye_was_killed_and_keeps_its_facts(path: Path) -> None:
    counters = Counters(50, regions=(RegionCalls(0, 2),), cpu_ns=11)
    arm = read_arm(write(path, HEADER, Call(0, 0), counters))
    assert (arm.status, arm.why, arm.ran) == ("killed", NO_GOODBYE, False)
    assert (len(arm.calls), arm.wall_ns, arm.cpu_ns) == (1, 50, 11)


def test_a_raised_goodbye_brings_its_exception(path: Path) -> None:
    raised = Raised("ValueError", "no")
    arm = read_arm(write(path, HEADER, Goodbye("raised", raised=raised)))
    assert (arm.status, arm.raised, arm.ran) == ("raised", raised, False)


def test_a_region_or_code_object_written_again_replaces_the_earlier_one(path: Path) -> None:
    first, second = Region(0, "encode"), Region(0, "encode", root=3)
    codes = (CodeObject(3, "f", "a.py", 1), CodeObject(3, "f", "a.py", 1, uncounted=2))
    arm = read_arm(write(path, HEADER, first, codes[0], second, codes[1]))
    assert (arm.regions, arm.code_objects) == ((second,), (codes[1],))


def test_counters_that_leave_out_what_did_not_change_are_merged(path: Path) -> None:
    first = Counters(1, (RegionCalls(0, 5), RegionCalls(1, 6)), (EntryRuns(0, "0/0", 5),), 9, 0)
    later = Counters(2, (RegionCalls(0, 8),), (EntryRuns(0, "0/1", 3),), 12, 1)
    merged = read_arm(write(path, HEADER, first, later)).counters
    assert merged
    assert merged.regions == (RegionCalls(0, 8), RegionCalls(1, 6))
    assert merged.entries == (EntryRuns(0, "0/0", 5), EntryRuns(0, "0/1", 3))
    assert (merged.at_ns, merged.lookups, merged.silent) == (2, 12, 1)


def test_a_last_line_cut_by_a_kill_is_counted_and_the_rest_is_read(path: Path) -> None:
    whole = encode(Call(0, 1))
    arm = read_arm(write(path, HEADER, Call(0, 0), tail=whole[:-9]))
    assert [call.index for call in arm.calls] == [0]
    assert [(d.where, d.count) for d in arm.damage] == [("damaged line", 1)]


def test_damage_of_one_kind_is_counted_and_unknown_kinds_are_named(path: Path) -> None:
    strange = b'{"fact":"dream"}\n{"fact":"dream"}\n{"fact":"hope"}\n\xff\n'
    arm = read_arm(write(path, HEADER, Call(0, 0), tail=strange + encode(Call(0, 1))))
    assert len(arm.calls) == 2
    unknown = {d.why: d.count for d in arm.damage if d.where == "unknown kind"}
    assert unknown == {"dream": 2, "hope": 1}
    assert sum(d.count for d in arm.damage) == 4


def test_blank_lines_and_carriage_returns_are_no_damage(path: Path) -> None:
    crlf = encode(HEADER).replace(b"\n", b"\r\n") + b"\r\n\n   \n" + encode(Goodbye("finished"))
    path.write_bytes(crlf)
    arm = read_arm(path)
    assert (arm.status, arm.damage) == ("finished", ())


@pytest.mark.parametrize(
    "content", [b"", b"\n", b"not json\n", b"{}\n", b'{"fact":"hope"}\n', b"\x00" * 64]
)
def test_a_file_without_a_fact_is_no_recording(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises(RecordingError, match=r"not a compile-ledger recording|is empty"):
        read_arm(path)


def test_a_recording_whose_header_was_lost_is_read_with_what_is_known(path: Path) -> None:
    path.write_bytes(encode(Call(0, 0), 1) + encode(Goodbye("finished"), 2))
    arm = read_arm(path)
    assert arm.header is None
    assert (len(arm.calls), arm.status) == (1, "finished")
    assert [(lost.where, lost.count) for lost in arm.damage] == [("missing line", 1)]


def test_a_header_stands_anywhere(path: Path) -> None:
    path.write_bytes(encode(Call(0, 0), 1) + encode(HEADER, 0) + encode(Goodbye("finished"), 2))
    assert read_arm(path).header == HEADER
    assert read_arm(path).damage == ()


def test_a_header_of_another_format_is_no_recording(path: Path) -> None:
    with pytest.raises(RecordingError, match="not a compile-ledger recording"):
        read_arm(write(path, Header("other", 1, "t", 1)))


def test_a_newer_version_says_to_upgrade(path: Path) -> None:
    with pytest.raises(RecordingError, match=f"version {VERSION + 1}.*upgrade compile-ledger"):
        read_arm(write(path, Header(FORMAT, VERSION + 1, "9", 1)))


def test_a_missing_file_is_an_os_error(path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_arm(path)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=300))
def test_any_bytes_after_a_header_are_read_without_an_exception(path: Path, tail: bytes) -> None:
    arm = read_arm(write(path, HEADER, Call(0, 0), tail=tail))
    assert arm.header == HEADER
    assert arm.calls[0] == Call(0, 0)
