"""The cache lines that a recording keeps, and questions asked of them afterwards."""

import gc
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

import compile_ledger
from compile_ledger import TensorSpec, load_cache_line, what_if
from compile_ledger.commands.read import judge_recorded
from compile_ledger.facts.arm import Arm
from compile_ledger.facts.cache_line import LineReading
from compile_ledger.observe.cache_line import at_end, fold
from compile_ledger.observe.recording import live
from compile_ledger.read.folder import read_all
from compile_ledger.render import form


def scale(x: torch.Tensor, by: str = "a") -> torch.Tensor:
    return x * 2 if by == "a" else x * 3


def applied(x: torch.Tensor, kind: Any) -> torch.Tensor:
    return x * kind.k


def broken(x: torch.Tensor) -> torch.Tensor:
    y = x * 2
    torch._dynamo.graph_break()
    return y + 1


class Deep(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(4, 4) for _ in range(40))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer in self.layers:
            x = layer(x)
        return x


@pytest.fixture(autouse=True)
def _a_recorder_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(live._state, "stopped", None)


def recorded(folder: Path, program: Any) -> Arm:
    with compile_ledger.record(folder) as recording:
        program()
    (one,) = read_all(recording.path).recorded
    assert one.arm.lost == ()
    return one.arm


def by_name(arm: Arm) -> dict[str, LineReading]:
    return {reading.line.name: reading for reading in arm.cache_lines}


def two_entries() -> None:
    compiled = torch.compile(scale, backend="eager", dynamic=False)
    for by in ("a", "b", "a"):
        compiled(torch.ones(3), by)


def test_a_recording_ends_with_the_line_of_each_code_object(tmp_path: Path) -> None:
    line = by_name(recorded(tmp_path, two_entries))["scale"].line
    assert [entry.compile_id for entry in line.entries] == ["0/0", "0/1"]
    assert [entry.runs.value for entry in line.entries] == [2, 1]
    assert [entry.rejections.value for entry in line.entries] == [1, 1]
    assert [entry.graph_ops.value for entry in line.entries] == [1, 1]
    assert (line.state, line.role) == ("on", "root")
    assert (line.budget.left, line.budget.limit_value) == (6, 8)


def test_what_differs_is_kept_and_what_is_shared_is_kept_once(tmp_path: Path) -> None:
    line = by_name(recorded(tmp_path, two_entries))["scale"].line
    assert [[g.text for g in entry.guards] for entry in line.entries] == [
        ["L['by'] == 'a'"],
        ["L['by'] == 'b'"],
    ]
    assert "L['x']" in {guard.source for guard in line.common}
    assert line.folded > 0


def test_resume_functions_are_told_from_roots(tmp_path: Path) -> None:
    def program() -> None:
        torch.compile(broken, backend="eager")(torch.ones(3))

    found = recorded(tmp_path, program).cache_lines
    assert [reading.line.role for reading in found] == ["root", "resume"]
    assert {reading.target for reading in found} == {"broken"}
    assert len({reading.regions for reading in found}) == 1


def test_a_limit_is_in_the_state_although_the_model_is_gone(tmp_path: Path) -> None:
    def program() -> None:
        compiled = torch.compile(Deep(), backend="eager", dynamic=False)
        for size in range(2, 14):
            compiled(torch.ones(size, 4))

    arm = recorded(tmp_path, program)
    line = by_name(arm)["forward"].line
    assert line.state == "run-only"
    assert line.budget.left == 0
    assert len(line.entries) == 8
    assert all(entry.valid for entry in line.entries)
    assert sum(len(entry.guards) for entry in line.entries) < 24
    assert line.folded > 150
    assert len(form("json")(judge_recorded(read_all(tmp_path).recorded[0]))) < 60_000


def in_locals() -> None:
    model = Deep()

    @torch.compile(backend="eager", dynamic=False)
    def step(x: torch.Tensor) -> torch.Tensor:
        return model(x).sum()

    for size in (2, 3):
        step(torch.ones(size, 4))


def test_entries_whose_objects_were_freed_after_the_last_call_are_shown_as_they_were(
    tmp_path: Path,
) -> None:
    def program() -> None:
        in_locals()
        gc.collect()

    line = by_name(recorded(tmp_path, program))["step"].line
    assert [entry.valid for entry in line.entries] == [True, True]
    assert [entry.runs.value for entry in line.entries] == [1, 1]
    sizes = [[g.tensor.size for g in entry.guards if g.tensor] for entry in line.entries]
    assert sizes == [[(3, 4)], [(2, 4)]]


def test_an_entry_that_was_freed_while_its_region_went_on_is_invalidated(tmp_path: Path) -> None:
    def program() -> None:
        compiled = torch.compile(applied, backend="eager")
        for name in ("One", "Two"):
            compiled(torch.ones(3), type(name, (), {"k": 2})())
            gc.collect()

    line = by_name(recorded(tmp_path, program))["applied"].line
    last, first = line.entries if line.entries[0].compile_id == "0/1" else line.entries[::-1]
    assert (last.valid, first.valid) == (True, False)
    assert "got deallocated" in first.invalid_why


def test_at_the_exit_of_a_program_its_entries_are_there(tmp_path: Path) -> None:
    script = tmp_path / "serve.py"
    script.write_text(
        "import torch\n"
        "def scale(x, by):\n"
        "    return torch.sin(x) * len(by)\n"
        "def main():\n"
        "    compiled = torch.compile(scale, backend='eager')\n"
        "    for by in ('a', 'bb'):\n"
        "        compiled(torch.ones(3), by)\n"
        "main()\n"
    )
    out = tmp_path / "out"
    command = [sys.executable, "-m", "compile_ledger", "record", "-o", str(out), str(script)]
    subprocess.run(command, check=True)
    (one,) = read_all(out).recorded
    (reading,) = one.arm.cache_lines
    assert [[g.text for g in entry.guards] for entry in reading.line.entries] == [
        ["L['by'] == 'bb'"],
        ["L['by'] == 'a'"],
    ]


def test_what_one_process_keeps_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(at_end, "MOST_ENTRIES", 3)
    monkeypatch.setattr(fold, "MOST_OWN", 0)

    def program() -> None:
        compiled = torch.compile(scale, backend="eager", dynamic=False)
        for size in range(2, 8):
            compiled(torch.ones(size))

    line = by_name(recorded(tmp_path, program))["scale"].line
    assert (len(line.entries), line.more) == (3, 3)
    assert all(entry.folded and not entry.guards for entry in line.entries)


def test_a_failure_of_ours_is_lost_evidence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: Any) -> None:
        raise RuntimeError("no such leaf")  # noqa: EM101, TRY003

    monkeypatch.setattr(at_end, "fold", fails)
    with compile_ledger.record(tmp_path) as recording:
        two_entries()
    (one,) = read_all(recording.path).recorded
    assert one.arm.status == "finished"
    assert one.arm.cache_lines == ()
    assert [(lost.where, lost.why) for lost in one.arm.lost] == [
        ("read_line", "RuntimeError: no such leaf")
    ]


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    def program() -> None:
        two_entries()
        torch.compile(broken, backend="eager")(torch.ones(3))

    recorded(tmp_path, program)
    (tmp_path / "ledger.json").write_bytes(
        form("json")(judge_recorded(read_all(tmp_path).recorded[0]))
    )
    return tmp_path


def test_a_saved_ledger_is_asked_offline(ledger: Path) -> None:
    saved = load_cache_line(ledger, "scale")
    number = json.loads((ledger / "ledger.json").read_text())["cache_lines"][0]["regions"][0]
    assert load_cache_line(ledger, number) == saved
    hit = what_if(saved, TensorSpec((3,)), "b")
    assert (hit.next, hit.hit) == ("reuse", "0/1")
    miss = what_if(saved, TensorSpec((3,), dtype="float64"), "b")
    assert (miss.next, miss.nearest) == ("recompile", "0/1")
    assert miss.why == "no entry takes it; 5 more compiles before recompile_limit"
    assert [r.aspect for r in miss.answers[1].refusals] == ["dtype"]
    assert "only counted there" in str(miss)


def test_the_file_itself_may_be_named_and_a_code_object_chosen(ledger: Path) -> None:
    saved = load_cache_line(ledger / "ledger.json", "broken")
    assert [line.role for line in saved.lines] == ["root", "resume"]
    assert "broken" in str(saved)


def test_what_is_not_in_the_ledger_is_said_with_what_is(ledger: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"no region 'serve' has a cache line .* scale"):
        load_cache_line(ledger, "serve")
    with pytest.raises(ValueError, match=r"choose one by its number: scale .region \d+., broken"):
        load_cache_line(ledger)
    bare = json.loads((ledger / "ledger.json").read_text())
    bare["cache_lines"] = []
    (tmp_path / "bare.json").write_text(json.dumps(bare))
    with pytest.raises(ValueError, match="holds no cache line"):
        load_cache_line(tmp_path / "bare.json")


def test_a_limit_is_seen_coming(tmp_path: Path) -> None:
    def program() -> None:
        compiled = torch.compile(scale, backend="eager", dynamic=False)
        for size in range(2, 9):
            compiled(torch.ones(size))

    recorded(tmp_path, program)
    ledger = judge_recorded(read_all(tmp_path).recorded[0])
    (note,) = [found for found in ledger.findings if found.slug == "limit-ahead"]
    assert note.sentence == (
        "scale: the next new length of x (axis 0) takes the last free entry, and the one after it "
        "will run eagerly: 7 of 8 entries are used"
    )
    cells = {cell.name: cell.value for line in ledger.lines for cell in line.cells}
    assert cells["budget"] == "1 of 8 left before recompile_limit (scale)"


def test_saved_and_live_answers_agree(tmp_path: Path) -> None:
    compiled = torch.compile(scale, backend="eager", dynamic=False)

    def program() -> None:
        for size, by in ((2, "a"), (3, "b"), (4, "a")):
            compiled(torch.ones(size), by)

    recorded(tmp_path, program)
    (tmp_path / "ledger.json").write_bytes(
        form("json")(judge_recorded(read_all(tmp_path).recorded[0]))
    )
    saved = load_cache_line(tmp_path)
    for size in (2, 3, 5):
        for by in ("a", "b", "c"):
            for dtype in (torch.float32, torch.float64):
                live_answer = what_if(compiled, torch.ones(size, dtype=dtype), by)
                answer = what_if(saved, torch.ones(size, dtype=dtype), by)
                assert (answer.next, answer.hit) == (live_answer.next, live_answer.hit)
