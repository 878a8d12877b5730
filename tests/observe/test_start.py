"""Ways to start and to stop."""

import json
import os
import sys
from pathlib import Path

import pytest

import compile_ledger
from compile_ledger.judge.captured.graphs import graphs_per_call
from compile_ledger.judge.view import look

from .support import PROGRAMS, Run, arms, assert_silent

STARTUP = Path(__file__).parents[2] / "src/compile_ledger/startup"
ROOT = str(Path(compile_ledger.__file__).parents[1])
"""Where this package is imported from, installed or not."""


def test_late_start_stop_and_start_again(run: Run, tmp_path: Path) -> None:
    done = run("late.py", str(tmp_path))
    assert done.stdout.splitlines() == ["AlreadyRecordingError", "[]", "None"]

    (first,) = arms(tmp_path / "a")
    assert first.counters
    assert [(r.target, bool(r.site)) for r in first.regions] == [("early", False), ("later", True)]
    assert [r.calls for r in first.counters.regions] == [4, 3]
    ran = {e.compile_id: e.runs for e in first.counters.entries}
    new = {"0/2": 1, "1/0": 2, "2/0": 2, "1/1": 1, "2/1": 1}
    absent = {c.name for c in first.capabilities if not c.present}
    table = json.loads(run("-m", "compile_ledger.observe.table").stdout)["capabilities"]
    always = {c["name"] for c in table if not c["present"]}
    if hasattr(sys, "monitoring"):
        assert ran == {"0/0": 2, "0/1": 1, **new}
        assert_silent(first, 0)
        assert absent == always
        found = graphs_per_call(look(first), 0)
        assert found
        assert (found.calls, found.low, found.high) == (4, 1, 1)
    else:
        # Entries from before have no counter: totals that need one are unseen, not guessed.
        assert ran == new
        assert (first.counters.silent, first.counters.lookups) == (None, None)
        assert [c.uncounted for c in first.code_objects if c.name == "early"] == [2]
        assert graphs_per_call(look(first), 0) is None
        assert absent == {"entries-before", *always}

    (second,) = arms(tmp_path / "b")
    assert second.counters
    assert [r.calls for r in second.counters.regions] == [0, 3]
    assert_silent(second, 0)
    assert sorted(e.runs for e in second.counters.entries if e.runs) == [1, 1, 2, 2]


RESET = """
import torch, compile_ledger
def function(x):
    return x + 1
compiled = torch.compile(function, backend="eager", dynamic=False)
with compile_ledger.record("out"):
    for runs in (3, 5):
        for _ in range(runs):
            compiled(torch.ones(4))
        torch.compiler.reset()
"""


def test_ids_that_a_reset_uses_again_are_told_apart(run: Run, tmp_path: Path) -> None:
    run("-c", RESET)
    (arm,) = arms(tmp_path / "out")
    assert arm.counters
    assert {e.compile_id: e.runs for e in arm.counters.entries} == {"0/0": 3, "0/0~2": 5}
    assert [c.compile_id for c in arm.compiles] == ["0/0", "0/0~2"]


STANCE = """
import torch, compile_ledger
def function(x):
    return x + 1
compiled = torch.compile(function, backend="eager", dynamic=False)
with compile_ledger.record("out"):
    compiled(torch.ones(4))
    for stance in ("fail_on_recompile", "eager_on_recompile", "force_eager"):
        with torch.compiler.set_stance(stance):
            compiled(torch.ones(4))
            try:
                compiled(torch.ones(5))
            except RuntimeError:
                print(stance)
"""


def test_only_calls_that_ran_eagerly_are_silent(run: Run, tmp_path: Path) -> None:
    assert run("-c", STANCE).stdout == "fail_on_recompile\n"
    (arm,) = arms(tmp_path / "out")
    assert arm.counters
    assert [r.calls for r in arm.counters.regions] == [7]
    assert_silent(arm, 1)


def test_environment_reaches_spawned_children(run: Run, tmp_path: Path) -> None:
    (tmp_path / "hidden").mkdir()
    (tmp_path / "hidden" / "sitecustomize.py").write_text("import builtins; builtins.HIDDEN = 1\n")
    path = os.pathsep.join([str(STARTUP), str(tmp_path / "hidden"), ROOT])
    env = {"COMPILE_LEDGER_RECORD": "out", "PYTHONPATH": path}
    run("children.py", "spawn", env=env)
    assert len(arms(tmp_path / "out")) == 2
    done = run("-c", "import sys; print(HIDDEN, 'torch' in sys.modules, len(sys.path))", env=env)
    bare = run(
        "-c",
        "import sys; print(HIDDEN, 'torch' in sys.modules, len(sys.path))",
        env={"PYTHONPATH": os.pathsep.join([str(tmp_path / "hidden"), ROOT])},
    )
    assert done.stdout == bare.stdout


@pytest.mark.slow
def test_compile_workers_leave_no_file(run: Run, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(
        "import torch\nif __name__ == '__main__':\n"
        "    torch.compile(torch.sin, dynamic=False)(torch.ones(4))\n"
    )
    env = {"TORCHINDUCTOR_COMPILE_THREADS": "2", "TORCHINDUCTOR_WORKER_START": "subprocess"}
    run("-m", "compile_ledger", "record", "-o", "out", "program.py", env=env)
    assert len(arms(tmp_path / "out")) == 1


DDP = """
import torch, torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as Parallel
dist.init_process_group("gloo")
torch.manual_seed(0)
net = torch.compile(Parallel(torch.nn.Linear(4, 2)), backend="eager")
for _ in range(3 + dist.get_rank()):
    net(torch.ones(2, 4)).detach()
dist.barrier()
dist.destroy_process_group()
"""


@pytest.mark.slow
def test_each_rank_of_torchrun_writes_its_file(run: Run, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(DDP)
    run("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2",
        "-m", "compile_ledger", "record", "-o", "out", "train.py")  # fmt: skip
    found = {arm.header.rank or 0: arm for arm in arms(tmp_path / "out") if arm.header}
    assert set(found) == {0, 1}
    for rank, arm in found.items():
        assert arm.counters
        assert [(r.target, r.kind) for r in arm.regions][:1] == [
            ("DistributedDataParallel", "module")
        ]
        assert sum(r.calls for r in arm.counters.regions) == 3 + rank
    names = sorted(path.name.partition("-")[0] for path in (tmp_path / "out").iterdir())
    assert names == ["rank0", "rank1"]


def test_activation_is_one_file_that_can_be_taken_away(run: Run, tmp_path: Path) -> None:
    """In an environment of its own, which sees this one's packages."""
    home = tmp_path / "venv"
    run("-m", "venv", "--without-pip", str(home))
    python = str(home / "bin/python")
    (site,) = home.glob("lib/*/site-packages")
    import torch

    roots = {Path(str(m.__file__)).parents[1] for m in (compile_ledger, torch)}
    (site / "a.pth").write_text("".join(f"{root}\n" for root in sorted(roots)))
    command = ["-c", "import subprocess, sys; sys.exit(subprocess.call(sys.argv[1:]))", python]
    run(*command, "-m", "compile_ledger", "activate")
    env = {"COMPILE_LEDGER_RECORD": str(tmp_path / "out")}
    run(*command, str(PROGRAMS / "calls.py"), "end", "3", env=env)
    assert len(arms(tmp_path / "out")) == 1
    run(*command, "-m", "compile_ledger", "activate", "--off")
    run(*command, str(PROGRAMS / "calls.py"), "end", "3", env=env)
    assert len(arms(tmp_path / "out")) == 1
