"""One arm in a process of its own: how it ended is told, its facts are kept, nothing is left."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from compile_ledger.experiment import launch, plan
from compile_ledger.experiment.launch import ArmFolder, AuditError, environment_of, run_arm
from compile_ledger.experiment.plan import Terms
from compile_ledger.experiment.spec import ArmSpec
from compile_ledger.experiment.targets import Target
from compile_ledger.facts.arm import Arm
from compile_ledger.facts.codec import SUFFIX

from .support import arms, program, run

slow = pytest.mark.slow


def terms(tmp_path: Path, *argv: str) -> Terms:
    return Terms(program("ends.py", *argv), tmp_path / "audit")


def eager(tmp_path: Path, *argv: str) -> Arm:
    where = terms(tmp_path, *argv)
    return run(where, plan.eager(where))


def gone(pid: int) -> bool:
    """Whether a process has ended (a zombie that nobody waits for has)."""
    for _ in range(200):
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return True
        if state == "Z":
            return True
        time.sleep(0.02)
    return False


@slow
def test_a_killed_arm_says_by_which_signal_and_keeps_its_calls(tmp_path: Path) -> None:
    arm = eager(tmp_path, "killed")
    assert (arm.status, arm.why) == ("killed", "killed by signal SIGKILL")
    assert len(arm.calls) == 2
    assert not arm.ran


@slow
@pytest.mark.parametrize(("how", "code"), [("exits", 7), ("exits-with-words", 1)])
def test_an_arm_that_exits_has_finished_with_that_code(tmp_path: Path, how: str, code: int) -> None:
    arm = eager(tmp_path, how)
    assert (arm.status, arm.exit_code, len(arm.calls)) == ("finished", code, 2)


@slow
def test_an_arm_that_leaves_without_clean_up_failed_with_its_last_words(tmp_path: Path) -> None:
    arm = eager(tmp_path, "leaves")
    assert (arm.status, arm.why) == ("failed", "exit code 5: on stderr")
    assert len(arm.calls) == 2


@slow
def test_an_arm_whose_program_leaves_well_was_stopped_by_it(tmp_path: Path) -> None:
    arm = eager(tmp_path, "leaves-well")
    assert (arm.status, arm.why) == ("stopped", "the program ended itself with os._exit(0)")
    assert len(arm.calls) == 2
    assert arm.ran


@slow
def test_calls_round_a_region_are_kept_of_a_program_that_leaves(tmp_path: Path) -> None:
    arm = eager(tmp_path, "leaves-round-it")
    assert (arm.status, arm.calls) == ("stopped", ())
    assert [own.outside for own in arm.own_calls] == [1]


def test_the_profilers_lines_are_not_the_programs_last_words(tmp_path: Path) -> None:
    folder = ArmFolder(tmp_path)
    line = "USDT:2026-01-01 00:00:00 1:1 SyncActivityProfilerHandler.cpp:52] profiler_start\n"
    folder.stderr.write_text(f"{line}{line}no memory\n{line}")
    assert folder.last_words() == folder.last_words(1) == "no memory"


@slow
def test_an_arm_whose_program_raises_keeps_the_exception_and_the_users_line(
    tmp_path: Path,
) -> None:
    arm = eager(tmp_path, "raises")
    assert (arm.status, arm.exit_code) == ("raised", None)
    assert arm.raised
    assert (arm.raised.type, arm.raised.message) == ("RuntimeError", "after the calls")
    assert arm.raised.place
    assert arm.raised.place.function == "fail"
    assert "RuntimeError" in terms(tmp_path).arm_folder("eager").stderr.read_text()


@slow
def test_what_the_program_prints_goes_to_files(tmp_path: Path) -> None:
    eager(tmp_path, "returns", "--more", "x y")
    folder = terms(tmp_path).arm_folder("eager")
    assert folder.stdout.read_text() == "two calls returns --more x y\n"
    assert folder.stderr.read_text() == "on stderr\n"


@slow
def test_a_child_that_the_program_left_running_is_ended(tmp_path: Path) -> None:
    arm = eager(tmp_path, "leaves-a-child", str(tmp_path / "pid"))
    assert arm.status == "finished"
    assert gone(int((tmp_path / "pid").read_text()))


class Clock:
    """The module ``time`` for an arm, an hour later once ``late`` is set."""

    def __init__(self) -> None:
        self.late = False
        self.sleep = time.sleep

    def monotonic(self) -> float:
        return time.monotonic() + 3600 * self.late


@slow
def test_an_arm_past_its_time_is_ended_with_its_children_and_keeps_its_calls(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, pid = Clock(), tmp_path / "pid"
    monkeypatch.setattr(launch, "time", clock)

    def progress(name: str, seconds: float, folder: ArmFolder) -> None:
        assert (name, folder) == ("eager", where.arm_folder("eager"))
        assert seconds < 3600 or clock.late
        clock.late = pid.is_file() and bool(pid.read_text())

    where = terms(tmp_path, "hangs", str(pid))
    spec = plan.eager(where)
    arm = run_arm(spec, where.arm_folder("eager"), where.caches("eager"), 900.0, progress)
    assert (arm.status, arm.why) == ("timed_out", "it ran past --timeout")
    assert len(arm.calls) == 2
    assert gone(int(pid.read_text()))


@slow
def test_an_interrupt_ends_the_arm_and_its_children(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    where = terms(tmp_path, "hangs", str(pid))

    def progress(*_: object) -> None:
        if pid.is_file() and pid.read_text():
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_arm(
            plan.eager(where), where.arm_folder("eager"), where.caches("eager"), 900.0, progress
        )
    assert gone(int(pid.read_text()))


@slow
def test_a_program_that_never_ends_is_stopped_after_so_many_calls(tmp_path: Path) -> None:
    where = replace(terms(tmp_path, "never-ends"), max_calls=5)
    arm = run(where, plan.eager(where))
    assert (arm.status, len(arm.calls)) == ("stopped", 5)
    assert arm.ran
    assert where.arm_folder("eager").stdout.read_text() == "two calls never-ends\n"


@pytest.fixture
def dirty(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in launch._DROPPED:
        monkeypatch.setenv(name, "1")
    monkeypatch.setenv("MINE", "kept")
    monkeypatch.setenv("OMP_NUM_THREADS", "32")
    monkeypatch.setenv("TMPDIR", "/elsewhere")


@pytest.mark.usefixtures("dirty")
def test_an_arm_gets_its_own_caches_and_nothing_that_turns_compiling_off(tmp_path: Path) -> None:
    where = terms(tmp_path)
    found = environment_of(where.caches("cold"), plan.cold(where, compare=False))
    dropped = set(launch._DROPPED) - {"TRITON_CACHE_DIR"}
    assert not dropped & set(found)
    assert dropped >= {"TORCH_LOGS", "TORCHDYNAMO_DISABLE", "TORCH_COMPILE_DISABLE"}
    assert (found["MINE"], found["OMP_NUM_THREADS"], found["PYTHONHASHSEED"]) == ("kept", "1", "0")
    for name in ("TORCHINDUCTOR_CACHE_DIR", "TMPDIR", "TRITON_CACHE_DIR"):
        assert Path(found[name]).is_dir()
        assert Path(found[name]).is_relative_to(where.folder / "caches" / "cold")


def test_what_an_experiment_sets_wins_over_everything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TORCH_COMPILE_DYNAMIC_SOURCES", "theirs")
    spec = replace(plan.capture(terms(tmp_path)), env={"TORCH_COMPILE_DYNAMIC_SOURCES": "ours"})
    found = environment_of(tmp_path / "caches", spec)
    assert found["TORCH_COMPILE_DYNAMIC_SOURCES"] == "ours"


def test_every_arm_has_caches_of_its_own_except_those_that_are_to_find_the_cold_ones(
    tmp_path: Path,
) -> None:
    where = terms(tmp_path)
    names = ["eager", "eager_again", "capture", "reference", "correct", "cold", "experiment:x"]
    assert len({where.caches(name) for name in names}) == len(names)
    assert where.caches("warm") == where.caches("steady") == where.caches("cold")
    assert ":" not in where.caches("experiment:x").name + where.arm_folder("experiment:x").path.name


@slow
@pytest.mark.usefixtures("dirty")
def test_every_arm_starts_from_the_same_seeds_threads_and_variables(tmp_path: Path) -> None:
    found = arms(program("pair.py:build"), tmp_path, plan.eager, plan.capture)
    final = {a.leaf: a for a in found["capture"].agreements if a.call is None}
    caches = {leaf for leaf in final if "caches'][" in leaf}
    assert {a.status for leaf, a in final.items() if leaf not in caches} == {"equal"}
    assert {final[leaf].status for leaf in caches} == {"differs"}, "each arm has its own"
    assert {"state['random']", "state['torch']", "state['threads']"} < set(final)
    assert {f"state['seen'][{n}]" for n in range(4)} < set(final)


def test_a_folder_is_renewed_without_what_an_earlier_audit_left(tmp_path: Path) -> None:
    folder = ArmFolder(tmp_path / "arms" / "eager")
    folder.renew()
    folder.recording.write_text("old")
    Path(f"{folder.recording}.problem").write_text("old")
    folder.renew()
    assert list(folder.path.iterdir()) == []
    assert folder.recording.name.endswith(SUFFIX)


def test_a_spec_comes_back_equal(tmp_path: Path) -> None:
    spec = replace(
        plan.correct(terms(tmp_path, "a", "b c"), 3, align_random=True),
        overrides={"dynamic": None, "mode": "default"},
        env={"A": "b"},
    )
    spec.write(tmp_path / "spec.json")
    assert ArmSpec.read(tmp_path / "spec.json") == spec


Build = Callable[[Terms], ArmSpec]
CHEAP = [plan.eager, plan.eager_again, plan.capture, plan.reference]


@pytest.mark.parametrize("make", CHEAP)
def test_the_cheap_arms_generate_no_code_and_time_nothing(tmp_path: Path, make: Build) -> None:
    spec = make(terms(tmp_path))
    assert spec.cheap_backend
    assert not spec.prewarm
    assert not spec.steady
    assert spec.eager is (spec.name != "capture")


def test_arms_of_the_programs_own_backend_change_nothing_of_it(tmp_path: Path) -> None:
    where = terms(tmp_path)
    own = [
        plan.correct(where, 3, align_random=False),
        plan.cold(where, compare=True),
        plan.warm(where),
        plan.steady(where),
    ]
    for spec in own:
        assert (spec.eager, spec.cheap_backend, spec.overrides) == (False, False, {})


@pytest.mark.parametrize(("most", "expected"), [(None, 6), (4, 4), (9, 6)])
def test_the_arm_that_compares_stops_after_what_it_compares(
    tmp_path: Path, most: int | None, expected: int
) -> None:
    where = replace(terms(tmp_path), max_calls=most)
    assert plan.correct(where, 6, align_random=False).max_calls == expected
    assert plan.cold(where, compare=True).max_calls == most


def test_every_arm_has_the_terms_of_the_audit(tmp_path: Path) -> None:
    where = replace(
        terms(tmp_path), compare=3, max_calls=9, threads=2, seed=5, rtol=0.5, env={"A": "b"}
    )
    for spec in (plan.eager(where), plan.capture(where), plan.cold(where, compare=True)):
        assert (spec.compare, spec.max_calls, spec.threads, spec.seed) == (3, 9, 2, 5)
        assert (spec.rtol, spec.atol, spec.env) == (0.5, None, {"A": "b"})
        assert spec.recording == str(where.arm_folder(spec.name).recording)
    kept = {make(where).kept for make in CHEAP}
    assert kept == {str(where.folder / "kept")}


@slow
def test_a_target_that_cannot_be_run_is_an_audit_error_in_its_own_words(tmp_path: Path) -> None:
    absent = Target("module", "no_such_module_anywhere", text="-m no_such_module_anywhere")
    with pytest.raises(AuditError, match="there is no module no_such_module_anywhere here"):
        arms(absent, tmp_path, plan.eager)
