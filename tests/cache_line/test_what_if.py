"""What ``what_if`` says, and that asking changes nothing."""

import json
import subprocess
import sys
from collections import OrderedDict
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from compile_ledger import TensorSpec, cache_line, what_if


def scale(x: torch.Tensor, by: str = "a", table: Any = None) -> torch.Tensor:
    out = x * 2 if by == "a" else x * 3
    for value in (table or {}).values():
        out = out * value
    return out


def region(**options: Any) -> Any:
    return torch.compile(scale, backend="eager", **options)


def refusals(answer: Any, entry: int = 0) -> dict[tuple[str, str], tuple[str, str]]:
    return {
        (one.source, one.aspect): (one.expected, one.actual)
        for one in answer.answers[entry].refusals
    }


def test_every_failing_guard_is_named_with_both_values() -> None:
    compiled = region()
    compiled(torch.ones(3), "a", {"k": 2})
    answer = what_if(compiled, torch.ones(4, 2, dtype=torch.float64), "b", {"q": 3})
    assert refusals(answer) == {
        ("L['by']", "value"): ("'a'", "'b'"),
        ("L['x']", "dtype"): ("torch.float32", "torch.float64"),
        ("L['x']", "rank"): ("1", "2"),
        ("list(dict.keys(L['table']))[0]", "value"): ("'k'", "'q'"),
        ("L['table']['k']", "presence"): ("present", "missing (KeyError)"),
    }
    assert {one.place.file for one in answer.answers[0].refusals if one.place} == {__file__}


def test_a_dict_s_own_length_and_type() -> None:
    compiled = region()
    compiled(torch.ones(3), "a", {"k": 2})
    longer = what_if(compiled, torch.ones(3), "a", {"k": 2, "l": 3})
    assert refusals(longer) == {("L['table']", "length"): ("1", "2")}
    other = what_if(compiled, torch.ones(3), "a", OrderedDict(k=2))
    assert ("L['table']", "type") in refusals(other)


def test_the_nearest_entry_is_the_one_with_fewest_differences() -> None:
    compiled = region(dynamic=False)
    compiled(torch.ones(3), "a")
    compiled(torch.ones(4, dtype=torch.float64), "b")
    answer = what_if(compiled, torch.ones(5), "a")
    assert (answer.next, answer.nearest) == ("recompile", "0/0")


def test_a_shadowed_entry_is_told() -> None:
    compiled = region()
    for length in (3, 4):
        compiled(torch.ones(length))
    answer = what_if(compiled, torch.ones(3))
    assert (answer.hit, [one.accepts for one in answer.answers]) == ("0/1", [True, True])
    assert "would take it too, but 0/1 is asked first" in str(answer)


def test_what_comes_next_from_the_first_call_to_the_limit() -> None:
    compiled = region()
    said = []
    with torch._dynamo.config.patch(recompile_limit=2):
        for by in "abcca":
            answer = what_if(compiled, torch.ones(3), by)
            said.append((answer.next, answer.limit))
            compiled(torch.ones(3), by)
    assert said == [
        ("compile", ""),
        ("recompile", ""),
        ("refused", "recompile_limit"),
        ("fall_back", ""),
        ("reuse", ""),
    ]


def test_fullgraph_raises_at_the_limit() -> None:
    compiled = region(fullgraph=True)
    with torch._dynamo.config.patch(recompile_limit=1):
        compiled(torch.ones(3), "a")
        assert what_if(compiled, torch.ones(3), "b").next == "raise"
        with pytest.raises(Exception, match="fullgraph"):
            compiled(torch.ones(3), "b")


@pytest.mark.parametrize(
    ("stance", "expected"),
    [
        ("force_eager", "eager"),
        ("eager_on_recompile", "fall_back"),
        ("fail_on_recompile", "raise"),
    ],
)
def test_stances(stance: str, expected: str) -> None:
    compiled = region()
    compiled(torch.ones(3), "a")
    with torch.compiler.set_stance(stance):
        assert what_if(compiled, torch.ones(3), "b").next == expected


def test_the_state_of_the_process_is_asked_as_it_is_now() -> None:
    compiled = region()
    compiled(torch.ones(3))
    with torch.no_grad():
        answer = what_if(compiled, torch.ones(3))
    assert refusals(answer) == {("", "grad_mode"): ("True", "False")}
    assert what_if(compiled, torch.ones(3)).next == "reuse"


def test_another_backend_object_refuses() -> None:
    def backend(graph: Any, _inputs: Any) -> Any:
        return graph.forward

    torch.compile(scale, backend=backend)(torch.ones(3))
    answer = what_if(region(), torch.ones(3))
    assert [one.kind for one in answer.answers[0].refusals] == ["BACKEND_MATCH"]


def test_an_attribute_of_a_module() -> None:
    class Scaled(nn.Module):
        k = 2

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x * self.k

    module = Scaled()
    compiled = torch.compile(module, backend="eager")
    compiled(torch.ones(3))
    module.k = 5
    found = what_if(compiled, torch.ones(3))
    assert found.next == "recompile"
    assert refusals(found) == {("L['self'].__dict__", "keys"): ("no key 'k'", "present")}


def test_arguments_that_do_not_fit_raise_as_the_call_would() -> None:
    with pytest.raises(TypeError, match="missing a required argument"):
        what_if(region())


def test_tensors_passed_twice() -> None:
    def add(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return x + y

    compiled = torch.compile(add, backend="eager")
    compiled(torch.ones(3), torch.ones(3))
    x = torch.ones(3)
    spec = TensorSpec((3,))
    for answer in (what_if(compiled, x, x), what_if(compiled, spec, spec)):
        assert answer.next == "recompile"
        assert answer.answers[0].refusals[0].expected == "distinct tensors"
    assert what_if(compiled, spec, TensorSpec((3,))).next == "reuse"


def counters(compiled: Any) -> Any:
    line = cache_line(compiled).root
    return [
        (entry.compile_id, entry.rejections, [(g.text, g.fail_count) for g in entry.guards])
        for entry in line.entries
    ]


@pytest.mark.parametrize("by", ["a", "b", "c", "other"])
def test_asking_leaves_no_trace(by: str) -> None:
    """Entries, their order, accessors' order, counters, compiles, and the next log line."""
    compiled = region()
    for known in "abc":
        compiled(torch.ones(3), known)
    before = counters(compiled), len(torch._dynamo.utils.get_compilation_metrics())
    x = torch.ones(3, requires_grad=True)
    for given in (x, TensorSpec((9,)), torch.ones(1)):
        what_if(compiled, given, by, {"k": 1})
        str(cache_line(compiled))
    assert (counters(compiled), len(torch._dynamo.utils.get_compilation_metrics())) == before
    assert x.grad is None


def test_iterators_are_not_consumed() -> None:
    def total(x: torch.Tensor, values: Any) -> torch.Tensor:
        for value in values:
            x = x + value
        return x

    compiled = torch.compile(total, backend="eager")
    compiled(torch.ones(3), iter([1, 2]))
    values = iter([1, 2])
    what_if(compiled, torch.ones(3), values)
    assert list(values) == [1, 2]


OFFLINE = """
import json, sys
class NoTorch:
    def find_spec(self, name, path=None, target=None):
        if name == "torch":
            raise SystemExit("torch was imported")
sys.meta_path.insert(0, NoTorch())
from compile_ledger import TensorSpec, load_cache_line, what_if
saved = load_cache_line(sys.argv[1])
for size, dtype, by in json.loads(sys.argv[2]):
    answer = what_if(saved, TensorSpec(size, dtype=dtype), by)
    print(answer.next, answer.hit, answer.nearest, len(str(answer).splitlines()) > 2)
"""


def test_offline_without_torch(tmp_path: Path) -> None:
    compiled = region()
    for by in "ab":
        compiled(torch.ones(3), by)
    path = tmp_path / "line.json"
    cache_line(compiled).save(path)
    asked = [[[3], "float32", "a"], [[3], "torch.float64", "a"], [[4], "float32", "b"]]
    command = [sys.executable, "-c", OFFLINE, str(path), json.dumps(asked)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split("\n")[:3] == [
        "reuse 0/0  True",
        "recompile  0/0 True",
        "recompile  0/1 True",
    ]


def test_descriptions_inside_containers() -> None:
    def total(xs: list[torch.Tensor]) -> torch.Tensor:
        return xs[0] + xs[1]

    compiled = torch.compile(total, backend="eager")
    compiled([torch.ones(3), torch.ones(3)])
    assert what_if(compiled, [TensorSpec((3,)), TensorSpec((3,))]).next == "reuse"
    answer = what_if(compiled, [TensorSpec((3,)), TensorSpec((3,), dtype=torch.int64)])
    assert refusals(answer) == {("L['xs'][1]", "dtype"): ("torch.float32", "torch.int64")}


def test_a_device_that_is_not_here_can_be_described() -> None:
    compiled = region()
    compiled(torch.ones(3))
    found = refusals(what_if(compiled, TensorSpec((3,), device="cuda:1")))
    assert found["L['x']", "device index"] == ("None", "1")
    assert found["L['x']", "dispatch keys"] == ("AutogradCPU, CPU", "AutogradCUDA, CUDA")


def test_text_fits_a_terminal() -> None:
    compiled = region()
    compiled(torch.ones(3), "a" * 200)
    shown = str(what_if(compiled, torch.ones(4), "b" * 200))
    assert max(map(len, shown.splitlines())) <= 80
