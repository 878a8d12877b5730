"""Recordings on disk become arms, however they ended."""

import dataclasses
import os
from pathlib import Path

import pytest

from compile_ledger.facts.arm import Goodbye, Header
from compile_ledger.facts.calls import Counters, EntryRuns, RegionCalls
from compile_ledger.facts.codec import FORMAT, VERSION, encode
from compile_ledger.facts.region import Region
from compile_ledger.facts.timeline import Span, Timeline
from compile_ledger.read.folder import read_all, recordings
from compile_ledger.read.recording import RecordingError, read_arm

HEADER = Header(FORMAT, VERSION, "0", 12, rank=1)


def write(path: Path, *facts: object, tail: bytes = b"") -> Path:
    path.write_bytes(b"".join(map(encode, facts)) + tail)
    return path


def reading(at: int, regions: dict[int, int], entries: dict[str, int], silent: int) -> Counters:
    return Counters(
        at,
        tuple(RegionCalls(number, calls) for number, calls in regions.items()),
        tuple(EntryRuns(0, name, runs) for name, runs in entries.items()),
        silent=silent,
    )


def test_readings_hold_only_what_changed(tmp_path: Path) -> None:
    path = write(
        tmp_path / "a.ledger.jsonl",
        HEADER,
        reading(1, {0: 1, 1: 1}, {"0/0": 1}, 0),
        reading(2, {0: 5}, {"0/1": 2}, 1),
        tail=b'{"fact":"counters","at_',
    )
    arm = read_arm(path)
    assert arm.counters
    assert {r.region: r.calls for r in arm.counters.regions} == {0: 5, 1: 1}
    assert {e.compile_id: e.runs for e in arm.counters.entries} == {"0/0": 1, "0/1": 2}
    assert (arm.counters.at_ns, arm.counters.silent) == (2, 1)
    assert (arm.status, "without a goodbye" in arm.why) == ("killed", True)
    assert sum(lost.count for lost in arm.damage) == 1


def spans(*each: tuple[int, int]) -> Timeline:
    return Timeline(
        1, tuple(Span(0, first, calls, "reused", {"0:0/0": 1}) for first, calls in each)
    )


def test_a_whole_timeline_is_calls(tmp_path: Path) -> None:
    total = reading(3, {0: 5}, {}, 0)
    path = write(tmp_path / "a.ledger.jsonl", HEADER, spans((0, 2)), spans((2, 3)), total)
    assert [call.index for call in read_arm(path).calls] == [0, 1, 2, 3, 4]


def test_a_timeline_with_gaps_stays_totals(tmp_path: Path) -> None:
    total = reading(3, {0: 5}, {}, 0)
    path = write(tmp_path / "a.ledger.jsonl", HEADER, spans((1, 2)), spans((3, 2)), total)
    assert read_arm(path).calls == ()


def test_the_busiest_process_comes_first(tmp_path: Path) -> None:
    for pid, calls in ((1, 3), (2, 9)):
        header = dataclasses.replace(HEADER, pid=pid)
        region = Region(0, "f")
        path = tmp_path / f"rank1-pid{pid}.ledger.jsonl"
        write(path, header, region, reading(1, {0: calls}, {}, 0), Goodbye("finished"))
    found = read_all(tmp_path).recorded
    assert [(one.who, one.calls) for one in found] == [("rank 1, pid 2", 9), ("rank 1, pid 1", 3)]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("", "holds no recording"),
        ("ledger.json", "compile-ledger report"),
        ("dedicated_log_torch_trace_x.log", "torch's own traces"),
    ],
)
def test_a_folder_without_recordings_says_what_it_is(tmp_path: Path, name: str, said: str) -> None:
    if name:
        (tmp_path / name).touch()
    with pytest.raises(RecordingError, match=said):
        recordings(tmp_path)


def test_what_is_not_there_and_what_is_no_recording(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match="does not exist"):
        read_all(tmp_path / "nowhere")
    with pytest.raises(RecordingError, match="no line of it is a fact of ours"):
        read_all(write(tmp_path / "x.txt", tail=b"hello\n"))


def test_a_folder_is_read_past_what_is_damaged(tmp_path: Path) -> None:
    write(tmp_path / "pid1.ledger.jsonl", HEADER, Region(0, "f"))
    (tmp_path / "pid2.ledger.jsonl").touch()
    (tmp_path / "pid3.ledger.jsonl").write_bytes(bytes(range(256)))
    (tmp_path / "pid4.ledger.jsonl").mkdir()
    os.mkfifo(tmp_path / "pid5.ledger.jsonl")
    found = read_all(tmp_path)
    assert [one.path.name for one in found.recorded] == ["pid1.ledger.jsonl"]
    empty, foreign = found.unread
    assert "pid2.ledger.jsonl is empty" in empty
    assert "pid3.ledger.jsonl is not a compile-ledger recording" in foreign


def test_a_folder_of_damage_is_refused(tmp_path: Path) -> None:
    (tmp_path / "pid2.ledger.jsonl").touch()
    with pytest.raises(RecordingError, match="is empty"):
        read_all(tmp_path)
