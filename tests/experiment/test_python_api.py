"""``compile_ledger.audit`` from Python: what is shipped, and what cannot be."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

import compile_ledger
from compile_ledger import ask
from compile_ledger.experiment.audit import AuditError, Listener
from compile_ledger.experiment.shipping import nothing_measured
from compile_ledger.facts.contract import Contract
from compile_ledger.judge.document import Ledger
from compile_ledger.progress import Progress
from compile_ledger.render.json import from_json, to_json

from .support import level

X = torch.ones(4)


class Scale(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.by = nn.Parameter(torch.tensor(2.0))

    def forward(self, x: torch.Tensor, plus: float = 0.0) -> torch.Tensor:
        return x * self.by + plus


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Ledger:
    return compile_ledger.audit(
        Scale(),
        [X, (X,), ((X,), {"plus": 1.0}), X, X, (X, 1.0)],
        compile={"backend": "eager"},
        depth="quick",
        output=tmp_path_factory.mktemp("audit"),
    )


@pytest.mark.slow
def test_a_module_and_its_calls_are_audited(ledger: Ledger) -> None:
    assert ledger.diagnosis is None
    assert [level(ledger, name).status for name in ("RUNS", "CORRECT", "CAPTURED")] == ["holds"] * 3
    (region,) = ledger.regions
    assert (region.target, region.calls) == ("Scale", 6)
    assert region.compile_kwargs == {"backend": "'eager'"}
    assert repr(ledger).startswith("<Ledger of Scale: RUNS holds, CORRECT holds, CAPTURED holds")
    shown = str(ledger)
    assert max(map(len, shown.splitlines())) <= 80
    assert "CACHE LINES" in shown
    page = ledger._repr_html_()  # type: ignore[attr-defined]  # the public audit's own class
    assert page.startswith("<iframe sandbox=")
    assert "&lt;!doctype html&gt;" in page.lower()


@pytest.mark.slow
def test_the_ledger_is_the_one_that_the_command_keeps(ledger: Ledger) -> None:
    assert from_json(to_json(ledger)) == ledger
    assert ledger == from_json(to_json(ledger))
    assert ledger.target == "Scale"


@pytest.mark.slow
def test_what_is_compiled_already_is_compiled_once_with_its_own_arguments(tmp_path: Path) -> None:
    fast = torch.compile(Scale(), backend="eager", dynamic=False)
    sizes = [torch.ones(n) for n in (4, 5, 6, 6, 6, 6, 6, 6, 6)]
    found = compile_ledger.audit(fast, sizes, depth="quick", output=tmp_path)
    (region,) = found.regions
    assert (found.target, region.target, region.calls) == ("Scale", "Scale", 9)
    assert region.compile_kwargs == {"backend": "'eager'", "dynamic": "False"}
    assert region.dispositions["recompiled"] == 2
    assert level(found, "CAPTURED").why.startswith("1 graph")


@pytest.mark.slow
def test_a_closure_is_shipped_and_a_bug_of_it_is_an_ordinary_one(tmp_path: Path) -> None:
    width = 7

    def closes_over(x: torch.Tensor) -> torch.Tensor:
        return x @ torch.ones(width)

    found = compile_ledger.audit(closes_over, [X], compile={"backend": "eager"}, output=tmp_path)
    assert found.diagnosis
    assert (found.diagnosis.level, found.diagnosis.slug) == ("RUNS", "eager-raises")


def holds_a_lock() -> Callable[[Any], Any]:
    lock = threading.Lock()

    def locked(x: Any) -> Any:
        with lock:
            return x

    return locked


@pytest.mark.parametrize(
    ("fn", "calls"),
    [
        (holds_a_lock(), [X]),
        (Scale(), [threading.Lock()]),
        (Scale(), lambda: iter((1, threading.Lock()))),
    ],
)
def test_what_cannot_be_shipped_is_not_measured_and_the_reason_is_given(
    fn: Any, calls: Any
) -> None:
    found = compile_ledger.audit(fn, calls)
    assert found.diagnosis is None
    assert {one.status for one in found.levels} == {"not_measured"}
    for one in found.levels:
        assert "cannot be sent to a fresh process: TypeError" in one.why
    assert found.verdict.startswith("nothing was measured: ")
    assert all(row.command.startswith("put the workload in a file") for row in found.not_measured)
    assert found.arms == ()


def test_what_is_no_workload_is_refused_before_any_process() -> None:
    with pytest.raises(ValueError, match="fn must be callable, not int"):
        compile_ledger.audit(3, [X])  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="calls must be an iterable"):
        compile_ledger.audit(Scale(), 3)  # type: ignore[arg-type]


@pytest.mark.slow
def test_a_workload_without_calls_has_nothing_to_audit(tmp_path: Path) -> None:
    with pytest.raises(AuditError, match="the workload makes no call"):
        compile_ledger.audit(Scale(), [], compile={"backend": "eager"}, output=tmp_path)


def test_the_public_names_are_there_without_importing_torch() -> None:
    assert {"audit", "Workload"} <= set(dir(compile_ledger))
    with pytest.raises(AttributeError, match="no attribute 'audits'"):
        compile_ledger.audits  # noqa: B018


class Heard(Listener):
    """Notes the arms that it hears of."""

    def __init__(self) -> None:
        self.arms: list[str] = []

    def arm_started(self, name: str, why: str) -> None:
        assert why
        self.arms.append(name)


@pytest.mark.parametrize("progress", [None, False, True])
def test_progress_is_shown_where_somebody_watches(
    *, progress: bool | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard: list[Any] = []

    def run(*given: Any) -> Ledger:
        heard.append(given[-1])
        return LEDGER

    monkeypatch.setattr(ask, "_audited", run)
    compile_ledger.audit(Scale(), [X], progress=progress)
    assert [isinstance(one, Progress) for one in heard] == [progress is True], "no terminal here"
    mine = Heard()
    compile_ledger.audit(Scale(), [X], progress=progress, listener=mine)
    assert heard[-1] is mine


LEDGER = nothing_measured(Contract(), "no process in this test")


def test_what_a_prompt_shows_of_a_workload_is_one_line() -> None:
    made = compile_ledger.Workload(Scale(), [X] * 6, {"dynamic": False})
    assert repr(made) == "<Workload of Scale: 6 calls, compile={'dynamic': False}>"
    assert repr(compile_ledger.Workload(Scale(), lambda: [X])).startswith("<Workload of Scale: ca")
