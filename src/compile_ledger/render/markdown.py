"""The Markdown form, for a comment on a pull request: short, and nothing in it is live.

What a ledger quotes cannot become markup, a link, a mention or a table cell.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from compile_ledger.facts.place import Place
from compile_ledger.judge.document import (
    BreakRow,
    ExperimentRow,
    Finding,
    Ledger,
    Line,
    OpinionRow,
    Reading,
)

from .break_rows import break_cost, per_call
from .gaps import gaps
from .headline import headline
from .levels import MARKS, TITLES, why
from .ranking import Group, groups
from .readings import COLUMNS, Column
from .words import NOT_MEASURED, because, clean, place

_LIVE = re.compile(r"([\\`*_\[\]#|~$]|^[-+=]|(?<=^\d)[.]|(?<=^\d\d)[.])")
_LINKED = re.compile(r"([@#](?=\w)|:(?=[\w+-]+:)|\b(?:https?|ftp|www)(?=[:.]))", re.IGNORECASE)
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
MOST_OF_A_KIND = 3
MOST_BREAKS = 8


def markdown(ledger: Ledger) -> str:
    """The ledger as GitHub-flavoured Markdown, the verdict first, details folded."""
    blocks: list[str] = [
        *_verdict(ledger),
        _levels(ledger),
        *(block for row in ledger.experiments for block in _experiment(row)),
        *_findings(ledger),
        *_breaks(ledger),
        *_opinions(ledger),
        *_gaps(ledger),
        *_lines(ledger.lines),
        f"<sub>compile-ledger {text(ledger.tool_version)}, {code(ledger.target)}</sub>",
    ]
    return "\n\n".join(blocks) + "\n"


def text(value: str) -> str:
    """``value`` on one line as plain text: no markup, HTML, mention, link or emoji in it."""
    escaped = _LIVE.sub(r"\\\1", clean(value).strip())
    escaped = "".join(_ENTITIES.get(char, char) for char in escaped)
    return _LINKED.sub(r"\1<!-- -->", escaped)


def code(value: str) -> str:
    """``value`` on one line as a code span that its own backticks cannot end."""
    value = clean(value)
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", value)), default=0))
    pad = " " if "`" in value or value != value.strip() or not value else ""
    return f"{fence}{pad}{value}{pad}{fence}"


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table of cells that are Markdown already."""
    head = list(head)
    lines = [head, ["---"] * len(head), *(list(row) for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _verdict(ledger: Ledger) -> Iterable[str]:
    head = headline(ledger)
    yield f"### {MARKS[head.status].glyph} {text(head.title)}\n\n{text(head.cause)}"
    facts = [] if head.where is None else [f"**where** {code(place(head.where))}"]
    facts += [f"**source** {code(head.source)}"] if head.source else []
    facts += [] if head.library is None else [f"**in library** {code(place(head.library))}"]
    facts += [] if head.guarded is None else [f"**guarded at** {code(place(head.guarded))}"]
    facts += [f"**cost** {text(head.cost)}"] if head.cost else []
    facts += [f"**experiment** {text(said)}" for said in head.experiments]
    facts += [f"**next** {text(head.advice)}"] if head.advice else []
    facts += [f"**note** {text(remark)}" for remark in head.remarks]
    if ledger.raised is not None:
        said = f"{ledger.raised.type}: {ledger.raised.message}"
        facts.append(f"**raised** {code(said)}{_at(ledger.raised.place)}")
    if facts:
        yield "\n".join(f"- {fact}" for fact in facts)


def _at(where: Place | None) -> str:
    return "" if where is None else f" at {code(place(where))}"


def _places(finding: Finding) -> str:
    source = f" ({code(finding.source)})" if finding.source else ""
    library, guarded = finding.library, finding.guarded
    inside = f", in library{_at(library)}" if library else ""
    return _at(finding.site) + source + inside + (f", guarded{_at(guarded)}" if guarded else "")


def _levels(ledger: Ledger) -> str:
    return table(
        ("level", "status", "why"),
        (
            (
                f"**{TITLES[level.level]}**",
                f"{MARKS[level.status].glyph} {MARKS[level.status].word}",
                text(why(level)),
            )
            for level in ledger.levels
        ),
    )


def _experiment(row: ExperimentRow) -> Iterable[str]:
    yield f"#### Experiment: {text(row.name)}\n\nChange: {text(row.change)}. {text(row.sentence)}."
    columns = COLUMNS[row.level]
    heads = ("", *(column.name for column in columns))
    yield table(heads, (_side("before", columns, row.before), _side("after", columns, row.after)))


def _side(name: str, columns: Sequence[Column], reading: Reading | None) -> tuple[str, ...]:
    if reading is None:
        return (name, NOT_MEASURED, *[""] * (len(columns) - 1))
    return (name, *(column.word(reading).replace("?", NOT_MEASURED) for column in columns))


def _findings(ledger: Ledger) -> Iterable[str]:
    ranked = groups(ledger.findings)
    if ranked:
        yield "#### Findings"
        yield "\n".join(line for group in ranked for line in _group(group))


def _group(group: Group) -> Iterable[str]:
    times = f" ×{group.count:,}" if group.count > 1 else ""
    price = f", cost {group.price}" if group.price else ""
    ignore = f"; can be ignored: {text(group.ignorable)}" if group.ignorable else ""
    kind = f"{group.severity} of {TITLES[group.level]}{price}{ignore}"
    yield f"- **{text(group.slug)}**{times} {text(group.title)} ({kind})"
    for finding in group.findings[:MOST_OF_A_KIND]:
        yield f"  - {text(finding.sentence)}{_places(finding)}"
    if len(group.findings) > MOST_OF_A_KIND:
        yield f"  - and {len(group.findings) - MOST_OF_A_KIND} more of this kind"
    if group.pointer:
        yield f"  - <sub>{code(group.pointer)}</sub>"


def _breaks(ledger: Ledger) -> Iterable[str]:
    if not ledger.breaks:
        return
    yield "#### Graph breaks"
    more = len(ledger.breaks) - MOST_BREAKS
    yield "\n".join(
        (
            *(line for row in ledger.breaks[:MOST_BREAKS] for line in _break(row)),
            *([f"- and {more} more"] if more > 0 else []),
        )
    )


def _break(row: BreakRow) -> Iterable[str]:
    at = code(place(Place(row.file, row.line)))
    where = f"{code(place(row.user))}, in library {at}" if row.user else at
    yield f"- {where} {text(row.reason)}"
    yield f"  - per call {text(per_call(row))}; cost {text(break_cost(row.cost))}"
    if row.removal:
        yield f"  - {text(row.removal)}"


def _opinions(ledger: Ledger) -> Iterable[str]:
    if ledger.opinions:
        yield "#### Other instruments (shown, never deciding)"
        yield "\n".join(line for row in ledger.opinions for line in _opinion(row))


def _opinion(row: OpinionRow) -> Iterable[str]:
    yield f"- {text(row.target)}: recorded {text(row.here)}"
    yield f"  - explain: {text(row.explain)}"
    yield f"  - fullgraph=True: {text(row.fullgraph)}"
    yield from (f"  - differs: {text(said)}" for said in row.differs)


def _gaps(ledger: Ledger) -> Iterable[str]:
    missing = gaps(ledger)
    if missing:
        yield "#### Not measured"
        yield "\n".join(
            f"- {text(because(gap.what, gap.why))}"
            + (f": {code(gap.command)}" if gap.command else "")
            for gap in missing
        )


def _lines(lines: Iterable[Line]) -> Iterable[str]:
    rows = [
        (
            text(line.name),
            text(cell.name),
            text(because(NOT_MEASURED, cell.why) if cell.value is None else cell.value),
            text(cell.instrument),
        )
        for line in lines
        for cell in line.cells
    ]
    if rows:
        inside = table(("line", "what", "value", "instrument"), rows)
        yield f"<details><summary>Ledger</summary>\n\n{inside}\n\n</details>"
