"""Each claim of the lesson on the cache line, on the torch that is installed here.

The lesson was written on a torch older than 2.4. A test's name says what is true today;
docs/lesson.md sets it beside the claim.
"""

import logging
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch._C._dynamo import eval_frame
from torch._dynamo.utils import counters

from compile_ledger import cache_line, what_if


def scaled(x: torch.Tensor, alpha: Any) -> torch.Tensor:
    return torch.sin(x) * alpha


def named(x: torch.Tensor, name: str) -> torch.Tensor:
    return torch.sin(x) * len(name) if name != "i" else torch.cos(x)


def plus(x: torch.Tensor) -> torch.Tensor:
    return torch.sin(x) + 1


def entries(region: Any) -> int:
    return len(cache_line(region).root.entries)


def after_each(
    program: Callable[..., Any], calls: list[tuple[Any, ...]], **options: Any
) -> list[int]:
    region = torch.compile(program, backend="eager", **options)
    found = []
    for call in calls:
        region(*call)
        found.append(entries(region))
    return found


def lengths(
    program: Callable[..., Any], *sizes: int, mark: bool = False, **options: Any
) -> list[int]:
    calls = []
    for size in sizes:
        x = torch.randn(size)
        if mark:
            torch._dynamo.mark_dynamic(x, 0)
        calls.append((x,))
    return after_each(program, calls, **options)


def with_values(values: Any) -> list[tuple[Any, ...]]:
    return [(torch.randn(4), value) for value in values]


class Log(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())


@pytest.fixture
def log() -> Any:
    logger = logging.getLogger("torch._dynamo")
    handler, level = Log(), logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.WARNING)
    yield handler
    logger.removeHandler(handler)
    logger.setLevel(level)


class TestTheStructure:
    def region(self) -> Any:
        region = torch.compile(scaled, backend="eager")
        for size, alpha in ((4, 2.0), (8, 2.0), (4, 5.0)):
            region(torch.randn(size), alpha)
        return region

    def test_three_captures_give_three_entries(self) -> None:
        assert entries(self.region()) == 3

    def test_the_entries_are_a_list_and_have_no_next(self) -> None:
        self.region()
        found = eval_frame._debug_get_cache_entry_list(scaled.__code__)
        assert isinstance(found, list)
        assert not hasattr(found[0], "next")

    def test_an_entry_has_a_guard_tree_and_no_check_function(self) -> None:
        self.region()
        entry = eval_frame._debug_get_cache_entry_list(scaled.__code__)[0]
        assert not hasattr(entry, "check_fn")
        assert type(entry.guard_manager.root).__name__ == "RootGuardManager"

    def test_a_call_asks_the_entries_from_the_head_until_one_accepts(self) -> None:
        region = torch.compile(named, backend="eager")
        for name in "abc":
            region(torch.randn(4), name)
        region(torch.randn(4), "b")
        line = cache_line(region).root
        assert [entry.compile_id for entry in line.entries] == ["0/1", "0/2", "0/0"]
        by_id = {entry.compile_id: entry.rejections.value for entry in line.entries}
        assert by_id == {"0/0": 2, "0/1": 1, "0/2": 1}

    def test_the_log_has_one_line_for_each_entry(self) -> None:
        region = torch.compile(named, backend="eager")
        handler = Log()
        torch._logging.set_logs(recompiles=True)
        logger = logging.getLogger("torch._dynamo.guards.__recompiles")
        logger.addHandler(handler)
        try:
            for name in "abcd":
                region(torch.randn(4), name)
        finally:
            logger.removeHandler(handler)
            torch._logging.set_logs()
        assert [line.count("name == ") for line in handler.lines] == [1, 2, 3]


class TestTheLimits:
    def test_the_limits_are_8_and_256(self) -> None:
        config = torch._dynamo.config
        assert (config.recompile_limit, config.accumulated_recompile_limit) == (8, 256)

    def test_the_old_names_are_aliases(self) -> None:
        config = torch._dynamo.config
        assert (config.cache_size_limit, config.accumulated_cache_size_limit) == (8, 256)

    def test_ten_instances_of_a_class_share_one_graph(self) -> None:
        assert self.instances(10) == 1

    def test_no_number_of_instances_trips_a_limit(self) -> None:
        assert self.instances(70) == 1

    def instances(self, number: int) -> int:
        for _ in range(number):
            region = torch.compile(Layer(), backend="eager")
            region(torch.randn(2, 4))
        return entries(region)

    def test_nine_floats_through_one_argument_cost_two_graphs(self) -> None:
        assert after_each(scaled, with_values(float(n) for n in range(9)))[-1] == 2

    def test_nine_floats_without_dynamic_shapes_burst_the_limit(self) -> None:
        found = after_each(scaled, with_values(float(n) for n in range(9)), dynamic=False)
        assert found == [1, 2, 3, 4, 5, 6, 7, 8, 8]

    def test_nine_ints_do_not_burst_the_limit(self) -> None:
        assert max(after_each(scaled, with_values(range(3, 12)))) == 2

    def test_nine_strings_do(self) -> None:
        assert after_each(named, with_values("abcdefghi")) == [1, 2, 3, 4, 5, 6, 7, 8, 8]

    def test_the_warning_names_the_limit_that_was_hit(self, log: Log) -> None:
        after_each(named, with_values("abcdefghi"))
        assert self.limit_of(log) == "recompile_limit (8)"
        torch._dynamo.reset()
        log.lines.clear()
        with torch._dynamo.config.patch(accumulated_recompile_limit=3):
            after_each(named, with_values("abcd"))
        assert self.limit_of(log) == "accumulated_recompile_limit (3)"

    def limit_of(self, log: Log) -> str:
        found = [match for match in map(_HIT.search, log.lines) if match]
        return found[-1].group(1)

    def test_the_last_reason_is_the_newest_entry_s(self, log: Log) -> None:
        after_each(named, with_values("abcdefghi"))
        warning = next(line for line in log.lines if _HIT.search(line))
        assert "last reason: 0/7: name == 'h'" in warning


_HIT = re.compile(r"torch\._dynamo hit config\.(\w+ \(\d+\))")


class Layer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Linear(4, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.inner(x))


def outer(x: torch.Tensor, name: str) -> torch.Tensor:
    return inner(x) * len(name)


def inner(x: torch.Tensor) -> torch.Tensor:
    return torch.cos(x)


class TestPastTheLimit:
    def test_the_entries_stay(self) -> None:
        found = after_each(named, with_values("abcdefghijkl"))
        assert found == [1, 2, 3, 4, 5, 6, 7, 8, 8, 8, 8, 8]

    def test_old_arguments_are_still_served_and_new_ones_run_eagerly(self) -> None:
        region = torch.compile(named, backend="eager")
        for name in "abcdefghij":
            region(torch.randn(4), name)
        assert what_if(region, torch.randn(4), "a").next == "reuse"
        assert what_if(region, torch.randn(4), "z").next == "fall_back"

    def test_the_frame_counters_stop(self) -> None:
        counters.clear()
        region = torch.compile(named, backend="eager")
        seen = []
        for name in "abcdefghijkl":
            region(torch.randn(4), name)
            seen.append((counters["frames"]["total"], counters["frames"]["ok"]))
        assert seen[7:] == [(8, 8), (9, 8), (9, 8), (9, 8), (9, 8)]
        assert counters["stats"]["unique_graphs"] == 8

    def test_capture_does_not_move_down_to_a_helper(self) -> None:
        region = torch.compile(outer, backend="eager")
        for name in ("a" * n for n in range(1, 12)):
            region(torch.randn(4), name)
        assert entries(region) == 8
        assert entries(inner) == 0

    def test_capture_does_move_down_where_the_code_object_is_switched_off(self) -> None:
        def fragile(x: torch.Tensor, good: bool) -> torch.Tensor:  # noqa: FBT001
            return inner(x) if good else x

        region = torch.compile(fragile, backend="eager")
        for good in (True, False, True):
            region(torch.randn(4), good)
        assert cache_line(region).root.state == "off"
        assert entries(inner) == 1


class TestDynamicShapes:
    def texts(self, region: Any) -> dict[str, set[str]]:
        line = cache_line(region).root
        return {entry.compile_id: {guard.text for guard in entry.guards} for entry in line.entries}

    def sizes(self, region: Any) -> dict[str, Any]:
        line = cache_line(region).root
        tensors = [(e.compile_id, g.tensor) for e in line.entries for g in e.guards if g.tensor]
        return {name: tensor.size for name, tensor in tensors}

    def test_the_second_size_makes_the_dimension_symbolic(self) -> None:
        assert lengths(plus, 4, 8, 16, 32, 1) == [1, 2, 2, 2, 3]

    def test_the_guards_show_it(self) -> None:
        region = torch.compile(plus, backend="eager")
        for size in (4, 8, 16, 32, 1):
            region(torch.randn(size))
        assert self.sizes(region) == {"0/0": (4,), "0/1": (None,), "0/2": (1,)}
        assert "2 <= L['x'].size()[0]" in self.texts(region)["0/1"]

    def test_marking_saves_the_first_compile_only(self) -> None:
        assert lengths(plus, 4, 8, 16, 32, 1, mark=True) == [1, 1, 1, 1, 2]

    def test_without_dynamic_shapes_each_shape_has_its_graph(self) -> None:
        assert lengths(plus, 4, 8, 16, dynamic=False) == [1, 2, 3]

    def test_dynamic_true_saves_the_first_compile_as_marking_does(self) -> None:
        assert lengths(plus, 4, 8, 16, 32, 1, dynamic=True) == [1, 1, 1, 1, 2]

    def test_a_branch_on_a_size_becomes_a_range(self) -> None:
        def branched(x: torch.Tensor) -> torch.Tensor:
            return torch.sin(x) if x.shape[0] > 4 else torch.cos(x)

        region = torch.compile(branched, backend="eager")
        found = []
        for size in (8, 16, 3):
            x = torch.randn(size)
            torch._dynamo.mark_dynamic(x, 0)
            region(x)
            found.append(entries(region))
        assert found == [1, 1, 2]
        texts = self.texts(region)
        assert "5 <= L['x'].size()[0]" in texts["0/0"]
        assert "2 <= L['x'].size()[0] <= 4" in texts["0/1"]


def test_the_page_names_every_test() -> None:
    page = (Path(__file__).parents[2] / "docs" / "lesson.md").read_text()
    tests = re.findall(r"def (test_\w+)", Path(__file__).read_text())
    assert [name for name in tests[:-1] if name not in page] == []
