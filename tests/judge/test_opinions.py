"""Other instruments beside what was recorded: disagreement is kept, and never decides."""

from __future__ import annotations

from compile_ledger.facts.arm import Arm
from compile_ledger.facts.graph_break import GraphBreak
from compile_ledger.facts.opinion import Opinion
from compile_ledger.facts.place import Place
from compile_ledger.judge.captured.opinions import opinion_rows
from compile_ledger.judge.document import OpinionRow
from compile_ledger.judge.ledger import judge
from compile_ledger.judge.view import look

from . import make

ITEM = GraphBreak("Tensor.item", (Place("model.py", 12),))


def broken(graphs: int) -> Arm:
    first = make.compile_at(0, breaks=(ITEM,))
    return make.healthy(calls=make.calls("c....", graphs=graphs), compiles=(first,))


def row(graphs: int, said: Opinion) -> OpinionRow:
    before = broken(graphs)
    (found,) = opinion_rows(look(before), make.arms(before, make.arm("opinions", opinions=(said,))))
    return found


def test_agreement_has_nothing_to_explain() -> None:
    found = row(2, Opinion(0, 2, 1, fullgraph=False, fullgraph_why="Unsupported: Tensor.item"))
    assert found.here == "2 graph runs per call, 1 break"
    assert found.explain == "2 graphs, 1 break"
    assert found.fullgraph == "raises Unsupported: Tensor.item"
    assert found.differs == ()


def test_runs_are_not_graphs_and_minus_one_is_no_number_of_breaks() -> None:
    found = row(4, Opinion(0, 0, -1, fullgraph=True))
    assert found.explain == "0 graphs, -1 breaks"
    assert len(found.differs) == 3
    assert "another program" in found.differs[-1]


def test_an_instrument_without_an_answer_says_why() -> None:
    found = row(2, Opinion(0, explain_why="AttributeError: explain", fullgraph=False))
    assert found.explain == "no answer: AttributeError: explain"


def test_no_opinion_decides() -> None:
    calm = Opinion(0, 1, 0, fullgraph=True)
    ledger = judge(
        make.arms(make.eager(5), broken(2), make.arm("opinions", opinions=(calm,))),
        make.INDUCTOR,
        tool_version="test",
    )
    assert ledger.levels[2].status == "fails"
    assert ledger.opinions[0].explain == "1 graph, 0 breaks"
