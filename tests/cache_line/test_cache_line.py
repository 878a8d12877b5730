"""What ``cache_line`` finds for each thing that torch.compile takes, and how it shows it."""

import functools
import gc
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

import compile_ledger
from compile_ledger import cache_line, expect, load_cache_line, what_if


def scale(x: torch.Tensor, by: str = "a") -> torch.Tensor:
    return x * 2 if by == "a" else x * 3


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Linear(3, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.inner(x) + 1

    def method(self, x: torch.Tensor) -> torch.Tensor:
        return x * 5


class Callee:
    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        return x + 1


class Decorated:
    @torch.compile(backend="eager")
    def method(self, x: torch.Tensor) -> torch.Tensor:
        return x * 3


def plain_decorator(function: Callable[..., Any]) -> Callable[..., Any]:
    def wrapper(*args: Any) -> Any:
        return function(*args)

    return wrapper


def kind_decorator(function: Callable[..., Any]) -> Callable[..., Any]:
    return functools.wraps(function)(plain_decorator(function))


def compiled_module() -> Any:
    block = Block()
    block.compile(backend="eager")
    return block


def compiled(thing: Any) -> Any:
    return torch.compile(thing, backend="eager")


THINGS: dict[str, tuple[Callable[[], Any], str]] = {
    "function": (lambda: compiled(scale), "scale"),
    "module": (lambda: compiled(Block()), "forward"),
    "module.compile": (compiled_module, "forward"),
    "method": (lambda: compiled(Block().method), "method"),
    "decorated method": (lambda: Decorated().method, "method"),
    "partial inside": (lambda: compiled(functools.partial(scale, by="b")), "inner"),
    "partial outside": (lambda: functools.partial(compiled(scale), by="b"), "scale"),
    "callable": (lambda: compiled(Callee()), "inner"),
    "library module": (lambda: compiled(nn.Linear(3, 3)), "inner"),
    "wrapped inside": (lambda: compiled(kind_decorator(scale)), "wrapper"),
    "wrapped outside": (lambda: kind_decorator(compiled(scale)), "scale"),
    "unkind wrapper": (lambda: plain_decorator(compiled(scale)), "scale"),
    "compiled twice": (lambda: compiled(compiled(scale)), "scale"),
}


@pytest.mark.parametrize("name", THINGS)
def test_the_root_of_everything_that_can_be_compiled(name: str) -> None:
    make, code = THINGS[name]
    region = make()
    region(torch.ones(2, 3))
    line = cache_line(region).root
    assert line.name == code
    assert len(line.entries) == 1
    assert line.entries[0].graph_ops.value
    assert compile_ledger.what_if(region, torch.ones(2, 3)).next == "reuse"


def test_what_has_no_python_code_is_refused_by_name() -> None:
    with pytest.raises(TypeError, match="no Python code object was found behind"):
        cache_line(len)


def test_the_shared_shim_is_said_to_be_shared() -> None:
    first, second = compiled(nn.Linear(3, 3)), compiled(nn.ReLU())
    first(torch.ones(2, 3))
    second(torch.ones(2, 3))
    found = cache_line(first)
    assert len(found.root.entries) == 2
    assert "unrelated regions share" in found.notes[0]


def test_entries_are_in_the_order_of_asking() -> None:
    region = torch.compile(scale, backend="eager")
    for by in "abc":
        region(torch.ones(3), by)
    region(torch.ones(3), "a")
    assert [entry.compile_id for entry in cache_line(region).root.entries] == ["0/0", "0/2", "0/1"]


def test_rejections_are_counted() -> None:
    region = torch.compile(scale, backend="eager")
    region(torch.ones(3), "a")
    region(torch.ones(3), "b")
    by_id = {entry.compile_id: entry for entry in cache_line(region).root.entries}
    assert by_id["0/0"].rejections.value == 1
    guard = next(g for g in by_id["0/0"].guards if g.text == "L['by'] == 'a'")
    assert (guard.fail_count, guard.predicate, guard.expected) == (1, "==", "'a'")
    assert guard.place is not None
    assert guard.place.file == __file__


def test_runs_are_counted_where_a_recorder_counts_them(tmp_path: Path) -> None:
    region = torch.compile(scale, backend="eager")
    with compile_ledger.record(tmp_path):
        for _ in range(3):
            region(torch.ones(3))
        assert cache_line(region).root.entries[0].runs.value == 3


def test_runs_that_nobody_counted_are_not_measured() -> None:
    region = torch.compile(scale, backend="eager")
    region(torch.ones(3))
    found = cache_line(region)
    assert found.root.entries[0].runs.value is None
    assert "runs not measured" in str(found)


def broken(x: torch.Tensor) -> torch.Tensor:
    x = helper(x + 1)
    torch._dynamo.graph_break()
    return x * 2


@torch.compiler.disable
def helper(x: torch.Tensor) -> torch.Tensor:
    return deep(x)


def deep(x: torch.Tensor) -> torch.Tensor:
    return x - 1


def test_resume_functions_follow_the_root() -> None:
    region = torch.compile(broken, backend="eager")
    region(torch.ones(3))
    lines = cache_line(region).lines
    assert [(line.role, len(line.entries)) for line in lines] == [
        ("root", 1),
        ("resume", 1),
        ("resume", 1),
    ]


class TestState:
    def test_on(self) -> None:
        region = torch.compile(scale, backend="eager")
        region(torch.ones(3))
        assert cache_line(region).root.state == "on"

    def test_run_only_after_the_limit(self) -> None:
        region = torch.compile(scale, backend="eager")
        with torch._dynamo.config.patch(recompile_limit=2):
            for by in "abc":
                region(torch.ones(3), by)
        root = cache_line(region).root
        assert (root.state, root.since, len(root.entries)) == ("run-only", "0/2", 2)

    @pytest.mark.parametrize("bad", ["raise", "return"])
    def test_off_for_good(self, bad: str) -> None:
        def fragile(x: torch.Tensor, how: str) -> torch.Tensor:
            if how == "raise":
                raise ValueError(how)
            return x if how == "return" else x * 2

        region = torch.compile(fragile, backend="eager")
        region(torch.ones(3), "good")
        try:
            region(torch.ones(3), bad)
        except ValueError:
            assert bad == "raise"
        root = cache_line(region).root
        assert (root.state, root.since) == ("off", "0/1")
        assert root.state_why
        assert "switched off for good since 0/1" in str(cache_line(region))

    def test_a_backend_that_raises_switches_nothing_off(self) -> None:
        def backend(_graph: Any, _inputs: Any) -> Any:
            raise RuntimeError

        region = torch.compile(scale, backend=backend)
        with pytest.raises(Exception, match="backend"):
            region(torch.ones(3))
        assert cache_line(region).root.state == "on"

    def test_records_from_before_a_reset_are_not_taken_for_new_ones(self) -> None:
        def fragile(x: torch.Tensor) -> torch.Tensor:
            return x

        torch.compile(fragile, backend="eager")(torch.ones(3))
        torch._dynamo.reset()
        region = torch.compile(scale, backend="eager")
        region(torch.ones(3))
        assert cache_line(region).root.state == "on"

    def test_records_that_are_gone_leave_it_unknown(self) -> None:
        def fragile(x: torch.Tensor, good: bool) -> torch.Tensor:  # noqa: FBT001
            return x * 2 if good else x

        region = torch.compile(fragile, backend="eager")
        region(torch.ones(3), True)  # noqa: FBT003
        region(torch.ones(3), False)  # noqa: FBT003
        torch._dynamo.utils.clear_compilation_metrics()
        root = cache_line(region).root
        assert (root.state, root.since) == ("unknown", "0/1")
        assert root.entries[0].graph_ops.value == 1


class TestBudget:
    def test_it_counts_down_to_the_limit_that_binds(self) -> None:
        region = torch.compile(scale, backend="eager")
        left = []
        with torch._dynamo.config.patch(recompile_limit=2):
            for by in "abc":
                region(torch.ones(3), by)
                budget = cache_line(region).root.budget
                left.append((budget.left, budget.limit, budget.limit_value))
        assert left == [(1, "recompile_limit", 2), *[(0, "recompile_limit", 2)] * 2]

    def test_the_accumulated_limit_wins_ties(self) -> None:
        region = torch.compile(scale, backend="eager")
        region(torch.ones(3))
        with torch._dynamo.config.patch(recompile_limit=3, accumulated_recompile_limit=3):
            assert cache_line(region).root.budget.limit == "accumulated_recompile_limit"

    def test_a_limit_of_the_region_s_own(self) -> None:
        region = torch.compile(scale, backend="eager", recompile_limit=3)
        region(torch.ones(3))
        budget = cache_line(region).root.budget
        assert (budget.left, budget.limit_value) == (2, 3)

    def test_isolated_regions_have_buckets_of_their_own(self) -> None:
        first = torch.compile(scale, backend="eager", isolate_recompiles=True)
        second = torch.compile(scale, backend="eager", isolate_recompiles=True)
        for by in "abc":
            first(torch.ones(3), by)
        second(torch.ones(3), "a")
        assert cache_line(first).root.budget.left == 5
        assert cache_line(second).root.budget.left == 7

    def test_invalidated_entries_count(self) -> None:
        region = torch.compile(by_kind, backend="eager")
        for _ in range(3):
            region(torch.ones(3), type("Made", (), {"k": 2})())
            gc.collect()
        root = cache_line(region).root
        assert root.invalid == 3
        assert root.budget.left == 5
        assert "3 of them invalidated" in str(cache_line(region))


def by_kind(x: torch.Tensor, made: Any) -> torch.Tensor:
    return x * made.k


class TestForms:
    def region(self) -> Any:
        region = torch.compile(scale, backend="eager")
        for by in "ab":
            region(torch.ones(3), by)
        return region

    def test_text_fits_a_terminal_and_shows_what_differs(self) -> None:
        shown = str(cache_line(self.region()))
        assert max(map(len, shown.splitlines())) <= 80
        assert "by == 'a'" in shown
        assert "by == 'b'" in shown
        assert "x dtype" not in shown
        assert "6 compiles left before recompile_limit (8)" in shown
        assert "assumptions in every entry" in shown

    def test_html_escapes_everything(self) -> None:
        region = torch.compile(scale, backend="eager")
        region(torch.ones(3), "<script>alert(1)</script>")
        found = cache_line(region)
        answer = compile_ledger.what_if(region, torch.ones(3), "<b>x</b>")
        for html in (found._repr_html_(), answer._repr_html_()):
            assert "<script>" not in html
            assert "<b>x" not in html
            assert "&lt;script&gt;" in html

    def test_saved_and_read_back(self, tmp_path: Path) -> None:
        found = cache_line(self.region())
        path = tmp_path / "line.json"
        found.save(path)
        assert load_cache_line(path) == found
        assert str(load_cache_line(path)) == str(found)

    @pytest.mark.parametrize("text", ["[]", "{}", '{"format": "compile-ledger-cache-line"}', "3"])
    def test_a_stranger_s_file_is_refused(self, text: str, tmp_path: Path) -> None:
        path = tmp_path / "line.json"
        path.write_text(text)
        with pytest.raises(ValueError, match="not a saved cache line"):
            load_cache_line(path)

    def test_the_document_is_plain_json(self) -> None:
        json.dumps(cache_line(self.region()).to_dict(), allow_nan=False)


def test_a_prompt_shows_one_line() -> None:
    compiled = torch.compile(lambda x: x + 1, backend="eager")
    compiled(torch.ones(2))
    assert repr(cache_line(compiled)).endswith("<lambda>: 1 entry, on>")
    assert repr(what_if(compiled, torch.ones(2))).endswith("<lambda>: reuse by 0/0>")
    assert repr(what_if(compiled, torch.ones(3))).endswith(": recompile>")
    assert repr(expect(fullgraph=True)).startswith("<expect(max_recompiles=0, fullgraph=True, no_")
