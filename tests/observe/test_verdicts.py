"""What ``read`` says of recordings, against what their programs counted themselves."""

import inspect
from pathlib import Path

import pytest
import torch

from compile_ledger.commands.read import judge_recorded
from compile_ledger.judge.document import Ledger
from compile_ledger.read.folder import read_all

from .support import Run

HEAD = """
import torch, compile_ledger
ones = torch.ones
def function(x):
    return x + 1
def compiled(target=function, **options):
    return torch.compile(target, backend="eager", dynamic=False, **options)
"""


@pytest.fixture
def ledger(run: Run, tmp_path: Path, request: pytest.FixtureRequest) -> Ledger:
    """The judged recording of the program that a test brings as its parameter."""
    body = "".join(f"    {line}\n" for line in request.param.strip().splitlines())
    run("-c", f'{HEAD}with compile_ledger.record("out"):\n{body}')
    (one,) = read_all(tmp_path / "out").recorded
    assert not one.arm.lost
    return judge_recorded(one)


def of(program: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("ledger", [program], indirect=True, ids=["program"])


def lacking(ledger: Ledger) -> set[str]:
    return {row.name for row in ledger.environment.capabilities if not row.present}


def status(ledger: Ledger, level: str) -> str:
    return next(one.status for one in ledger.levels if one.level == level)


@of("""
f = compiled(fullgraph=True)
for size in range(2, 14):
    try:
        f(ones(size))
    except Exception as error:
        assert "limit" in type(error).__name__.lower()
""")
def test_a_limit_that_raises_is_a_limit(ledger: Ledger) -> None:
    assert ledger.diagnosis
    assert ledger.diagnosis.level == "STABLE"
    assert "4 calls raised (" in ledger.diagnosis.sentence


@of("""
class Net(torch.nn.Module):
    def forward(self, x):
        return x * 2
net = Net()
one = torch.compile(net, backend="eager")
for _ in range(5):
    one(ones(3))
net.compile(backend="eager")
for _ in range(3):
    net(ones(3))
""")
def test_a_region_served_by_anothers_entries_is_captured(ledger: Ledger) -> None:
    assert ledger.diagnosis is None
    assert status(ledger, "CAPTURED") == "holds"
    assert "8 calls" in ledger.levels[2].why


@of("""
f = compiled()
for _ in range(2):
    for size in range(2, 13):
        f(ones(size))
    torch.compiler.reset()
for _ in range(4):
    f(ones(2))
""")
def test_a_reset_gives_the_line_its_room_again(ledger: Ledger) -> None:
    (line,) = ledger.cache_lines
    assert line.line.state == "on"
    assert line.line.budget.left == 7
    assert sum(region.dispositions["fell_back"] for region in ledger.regions) == 4


@pytest.mark.skipif(
    "isolate_recompiles" not in inspect.signature(torch.compile).parameters,
    reason="this torch has no isolate_recompiles",
)
@of("""
first, second = compiled(isolate_recompiles=True), compiled(isolate_recompiles=True)
for size in range(2, 14):
    first(ones(size))
for size in range(2, 5):
    second(ones(size))
""")
def test_isolated_regions_have_a_state_each(ledger: Ledger) -> None:
    states = [(line.line.state, line.line.since) for line in ledger.cache_lines]
    assert states == [("run-only", "0/8"), ("on", "")]
    lefts = [line.line.budget.left for line in ledger.cache_lines]
    assert lefts == [0, 5]


@of("""
f = compiled()
f(ones(2))
with torch.compiler.set_stance("force_eager"):
    for _ in range(6):
        f(ones(2))
with torch.compiler.set_stance("eager_on_recompile"):
    for size in (2, 3, 2, 3, 3):
        f(ones(size))
with torch.compiler.set_stance("fail_on_recompile"):
    for size in (2, 3, 4):
        try:
            f(ones(size))
        except RuntimeError:
            continue
""")
def test_calls_that_a_stance_kept_from_compiling(ledger: Ledger) -> None:
    assert "4 of 15 calls" in ledger.levels[2].why
    if "lookups" in lacking(ledger):
        return
    assert ledger.diagnosis
    assert ledger.diagnosis.slug == "stance-eager"
    assert ledger.diagnosis.sentence.startswith("3 of 15 calls of function ran eagerly by stance")
    kinds = {found.slug for found in ledger.findings}
    assert kinds >= {"stance-eager", "stance-refused", "forced-eager"}
    assert "silent-eager" not in kinds
    (region,) = ledger.regions
    assert region.dispositions["raised"] == 2


@of("""
inner = compiled(lambda x: x * 3)
def backend(graph, inputs):
    inner(ones(3))
    return graph.forward
f = torch.compile(function, backend=backend)
for size in (2, 3, 4, 5):
    f(ones(size))
""")
def test_a_region_called_while_another_compiles(ledger: Ledger) -> None:
    assert status(ledger, "CAPTURED") == "holds"
    assert sorted(region.dispositions["compiled"] for region in ledger.regions) == [1, 1]


@of("""
def loop(x):
    for _ in range(2):
        torch._dynamo.graph_break()
        x = x + 1
    return x
f = compiled(loop)
for _ in range(5):
    f(ones(2))
""")
def test_every_call_of_code_that_is_off_counts(ledger: Ledger) -> None:
    (region,) = ledger.regions
    assert region.dispositions["switched_off"] == 5
    assert ledger.diagnosis
    assert ledger.diagnosis.slug == "no-graph"


@of("""
@torch.compile(backend="eager")
def numbers(x):
    for step in range(3):
        yield x + step
for _ in range(3):
    list(numbers(ones(2)))
f = compiled()
for _ in range(4):
    f(ones(2))
""")
def test_what_cannot_be_counted_is_not_measured(ledger: Ledger) -> None:
    if "entries-that-suspend" in lacking(ledger):
        assert status(ledger, "CAPTURED") == "not_measured"
    else:  # This torch compiles no generator.
        assert all(code.entries == 1 for code in ledger.code_objects if code.name == "function")


@of("""
f = compiled()
f(ones(3))
@torch.compiler.set_stance("eager_on_recompile")
def serve(n):
    return f(ones(n))
for n in (3, 4, 3, 5, 3):
    serve(n)
torch.compiler.set_stance("force_eager")
f(ones(3))
with torch.compiler.set_stance("default"):
    f(ones(3))
""")
def test_stances_are_seen_as_function_decorator_and_context(ledger: Ledger) -> None:
    assert ledger.diagnosis
    assert ledger.diagnosis.slug == "stance-eager"
    said = ledger.diagnosis.sentence
    assert "by stance eager_on_recompile: x size[0] expected 3, actual 4, 5 (set at " in said
    assert "2 of 8 calls" in said or "lookups" in lacking(ledger)
    (forced,) = (found for found in ledger.findings if found.slug == "forced-eager")
    assert forced.sentence.startswith("1 of 8 calls of function ran eagerly by stance force_eager")


@of("""
f = compiled()
torch.compiler.set_stance("fail_on_recompile")
for n in (3, 4):
    try:
        f(ones(n))
    except RuntimeError:
        pass
""")
def test_a_stance_that_refuses_the_first_call_is_named(ledger: Ledger) -> None:
    (found,) = (one for one in ledger.findings if one.slug == "stance-refused")
    assert found.sentence.startswith("2 of 2 calls of function (0-1) refused by stance")
    assert "nothing had been compiled before" in found.sentence
