"""The five levels and their statuses as a reader sees them: a word and a mark each."""

from __future__ import annotations

from dataclasses import dataclass

from compile_ledger.judge.document import Level, LevelName, Status

TITLES: dict[LevelName, str] = {
    "RUNS": "RUNS",
    "CORRECT": "CORRECT",
    "CAPTURED": "CAPTURED",
    "STABLE": "STABLE",
    "WORTH_IT": "WORTH IT",
}

QUESTIONS: dict[LevelName, str] = {
    "RUNS": "Does it raise only what eager raises?",
    "CORRECT": "Do its results agree with eager's?",
    "CAPTURED": "Does one graph serve a steady call?",
    "STABLE": "Do the graphs keep fitting the calls?",
    "WORTH_IT": "Does it repay what it costs?",
}


@dataclass(frozen=True, slots=True)
class Mark:
    """How a status is shown: never by colour alone."""

    word: str
    glyph: str
    style: str
    """A rich style for the terminal; the HTML form styles by status name."""


MARKS: dict[Status, Mark] = {
    "holds": Mark("holds", "✓", "green"),
    "fails": Mark("fails", "✗", "bold red"),
    "not_measured": Mark("not measured", "?", "yellow"),
    "not_resolved": Mark("not resolved", "~", "yellow"),
}


def why(level: Level) -> str:
    """The level's one sentence; says when an earlier level has already failed."""
    if not level.after_failure or level.status == "not_measured":
        return level.why
    return f"{level.why} (after the failure: not part of the diagnosis)"
