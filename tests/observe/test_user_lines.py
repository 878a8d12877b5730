"""The user's line, also where a library called torch.compile or broke the graph."""

from pathlib import Path

from compile_ledger.commands.read import judge_recorded
from compile_ledger.facts.place import Place
from compile_ledger.read.folder import read_all

from .support import Run, arms

LIBRARY = """\
import torch


def prepare(model):
    return torch.compile(model, backend="eager")


def norm(x):
    torch._dynamo.graph_break()
    return x / x.sum()


class Block(torch.nn.Module):
    def forward(self, x):
        torch._dynamo.graph_break()
        return x + 1
"""

PROGRAM = """\
import torch
from helpers import Block, norm, prepare


def scaled(x):
    y = x * 2
    return norm(y)


ones = torch.ones(3)
prepare(scaled)(ones)
model = Block()
torch.compile(model, backend="eager")(ones)
"""


def test_the_users_line_is_named_with_the_librarys_beside_it(run: Run, tmp_path: Path) -> None:
    packages = tmp_path / "site-packages"
    packages.mkdir()
    (packages / "helpers.py").write_text(LIBRARY)
    (tmp_path / "serve.py").write_text(PROGRAM)
    program, library = str(tmp_path / "serve.py"), str(packages / "helpers.py")
    command = ("-m", "compile_ledger", "record", "-o", "out", program)
    run(*command, env={"PYTHONPATH": f"{packages}:{Path(__file__).parents[2] / 'src'}"})

    (arm,) = arms(tmp_path / "out")
    assert arm.lost == ()
    made = {region.target: region for region in arm.regions}
    assert made["scaled"].site == Place(program, 11, "<module>")
    assert made["scaled"].library == Place(library, 5, "prepare")
    assert made["Block"].library is None

    found = {
        (b.user.line, b.library.line): b.place
        for event in arm.compiles
        for b in event.breaks
        if b.user is not None and b.library is not None
    }
    # Called from line 7 of the user's function; a library's own region by line 13.
    assert found == {(7, 9): Place(library, 9, "norm"), (13, 15): Place(library, 15, "forward")}

    ledger = judge_recorded(read_all(tmp_path / "out").recorded[0])
    broken = {f.site.line: f for f in ledger.findings if f.slug == "graph-break" and f.site}
    assert broken[7].source == "return norm(y)"
    assert broken[7].library == Place(library, 9, "norm")
    assert f"at {program}:7, in helpers.py:9" in broken[7].sentence
