"""Words for the state, the counts and the budget of a cache line."""

from __future__ import annotations

from compile_ledger.facts.cache_line import Budget, CodeLine, Count, Entry
from compile_ledger.facts.guard import Refusal
from compile_ledger.facts.what_if import Next
from compile_ledger.judge.classify_guard.clean import plain

from .words import NOT_MEASURED, counted

STATES = {
    "on": "on",
    "off": "switched off for good",
    "run-only": "runs only what it has",
    "unknown": "state not measured",
}

NEXT: dict[Next, str] = {
    "reuse": "would reuse a graph",
    "compile": "would compile",
    "recompile": "would recompile",
    "refused": "would hit a limit and run eagerly, like later calls that no entry takes",
    "fall_back": "would run eagerly, without a word",
    "switched_off": "would run eagerly: the code object is switched off",
    "eager": "would run eagerly by request",
    "raise": "would raise",
}


def state(line: CodeLine) -> str:
    """The state, and the attempt that made it so."""
    since = f" since {line.since}" if line.since else ""
    return f"{STATES[line.state]}{since}"


def why(line: CodeLine) -> str:
    """Why a line is not simply on; empty where it is."""
    return line.state_why if line.state != "on" else ""


def budget(found: Budget) -> str:
    """Compiles left, and before which limit."""
    if found.left is None:
        return f"compiles left: {NOT_MEASURED}: {found.why}"
    return f"{counted(found.left, 'compile')} left before {found.limit} ({found.limit_value})"


def entries(line: CodeLine) -> str:
    """How many entries; those whose object is gone count against the limit."""
    number = len(line.entries) + line.more
    text = "1 entry" if number == 1 else f"{number} entries"
    return f"{text}, {line.invalid} of them invalidated" if line.invalid else text


def number(found: Count, noun: str) -> str:
    """``3 runs``, or ``runs not measured``."""
    if found.value is None:
        return f"{noun}s {NOT_MEASURED}"
    return counted(found.value, noun)


def entry_counts(entry: Entry) -> str:
    """Graph size, runs, refusals of one entry."""
    parts = [number(entry.graph_ops, "op"), number(entry.runs, "run")]
    refused = entry.rejections.value
    parts.append(f"refused {refused:,}×" if refused is not None else f"refusals {NOT_MEASURED}")
    return ", ".join(parts)


def refusal(found: Refusal) -> str:
    """One refusal with both values."""
    source = plain(found.source)
    if found.aspect == "relation":
        return f"{plain(found.expected)} is false"
    what = f"{source} {found.aspect}" if source else found.aspect
    actual = f", actual {plain(found.actual)}" if found.actual else ""
    return f"{what}: expected {plain(found.expected)}{actual}"
