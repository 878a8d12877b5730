"""What torch's own instruments say of a region's capture, beside what was recorded.

They are shown and never decide: ``explain`` counts graphs, not runs of them, and its
breaks are graphs less one; ``fullgraph=True`` of recent versions captures scalars and
shapes that depend on data, which the region itself does not.
"""

from __future__ import annotations

from compile_ledger.facts.opinion import Opinion
from compile_ledger.judge.choose import OPINIONS, Arms
from compile_ledger.judge.document import OpinionRow
from compile_ledger.judge.view import View
from compile_ledger.judge.words import count

from .breaks import breaks_in
from .graphs import graphs_per_call


def opinion_rows(view: View, arms: Arms) -> tuple[OpinionRow, ...]:
    """One row for each region of which the others were asked."""
    asked = arms[OPINIONS].opinions if OPINIONS in arms else ()
    return tuple(_row(view, said) for said in asked)


def _row(view: View, said: Opinion) -> OpinionRow:
    reading = graphs_per_call(view, said.region)
    breaks = len(breaks_in(view, said.region))
    graphs = "graphs not counted" if reading is None else f"{reading.text} graph runs per call"
    return OpinionRow(
        region=said.region,
        target=view.target(said.region),
        here=f"{graphs}, {count(breaks, 'break')}",
        explain=_explain(said),
        fullgraph="passes" if said.fullgraph else f"raises {said.fullgraph_why}",
        differs=_differs(said, None if reading is None else reading.high, breaks),
    )


def _explain(said: Opinion) -> str:
    if said.explain_graphs is None or said.explain_breaks is None:
        return f"no answer: {said.explain_why}"
    return f"{count(said.explain_graphs, 'graph')}, {count(said.explain_breaks, 'break')}"


def _differs(said: Opinion, runs: float | None, breaks: int) -> tuple[str, ...]:
    found = []
    if said.explain_breaks is not None and said.explain_breaks != breaks:
        found.append("explain's breaks are its graphs less one: -1 where a frame was skipped")
    if said.explain_graphs is not None and runs is not None and said.explain_graphs != runs:
        found.append("explain counts graphs that were made, not how often they run in a call")
    if said.fullgraph and breaks:
        found.append(
            "fullgraph=True passes: it captures more than the region does (scalars, shapes that "
            "depend on data), so it is another program"
        )
    return tuple(found)
