"""Experiments on graph breaks: the settings that could capture what the breaks name.

A change names only what some break named: scalars, shapes that depend on data, logging
functions. Where capturing one uncovers another, the next change is about both.
"""

from __future__ import annotations

import linecache
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from compile_ledger.facts.arm import Arm
from compile_ledger.facts.graph_break import GraphBreak
from compile_ledger.judge.captured.break_kinds import (
    AUTOGRAD,
    EMITS,
    EVERY,
    INSIDE,
    LOGGING,
    REORDER,
    SCALARS,
    SHAPES,
    could_capture,
    cures,
    functions_of,
    kind_of,
)
from compile_ledger.judge.captured.breaks import breaks_of
from compile_ledger.judge.captured.experiment import judge_break_experiment
from compile_ledger.judge.document import ExperimentRow

from .interventions import Intervention

BREAKS = ("graph-break", "frame-skipped", "no-graph", "eager-operators")
"""Findings that a break can be behind."""
MOST = 4
"""Arms that one diagnosis may take."""

_CAPTURES = {
    SCALARS: ("capture-scalars", "a tensor's value is read as a Python number"),
    SHAPES: ("capture-dynamic-shapes", "the shape of a result depends on data"),
    AUTOGRAD: ("trace-autograd", "gradients are computed inside the region"),
    "allow_rnn": ("allow-rnn", "recurrent layers are left out by default"),
}
_HINTED = "torch's own message names this setting"
_LOG_CALL = re.compile(rf"\b(logging\.)?({'|'.join(EMITS)})\(")


def break_experiments(
    before: Arm, regions: Collection[int], run: Callable[[Intervention], Arm]
) -> Iterator[ExperimentRow]:
    """A row for each change, the smallest first; each is run when its row is asked for."""
    known = breaks_of(before, regions)
    tried: set[str] = set()
    for _ in range(MOST):
        chosen = next((one for one in candidates(known) if one.name not in tried), None)
        if chosen is None:
            return
        tried.add(chosen.name)
        after = run(chosen)
        kinds = {kind_of(found).name for found in known if could_capture(found)}
        region = next(iter(regions)) if len(regions) == 1 else None
        yield judge_break_experiment(
            before, after, chosen.name, chosen.change, chosen.tests, kinds, region
        )
        known += breaks_of(after)


def candidates(known: Iterable[GraphBreak]) -> Iterator[Intervention]:
    """The changes that could capture what these breaks name; none where no setting does.

    A logging call is first moved behind the graph, where it alone breaks it and is no
    logger's, and then left out.
    """
    found = list(known)
    captured = {name: value for one in found for name, value in cures(one).items()}
    functions = _functions(found)
    logger = any(path.startswith("logging.Logger") for path in functions)
    if functions and not captured and not logger:
        yield _made({}, functions, REORDER)
    if captured or functions:
        yield _made(dict(sorted(captured.items())), functions, LOGGING)


def _functions(found: Sequence[GraphBreak]) -> tuple[str, ...]:
    """The logging functions that the user's lines call; all, where no line tells."""
    named = tuple(dict.fromkeys(path for one in found for path in _called(one)))
    inside = any(kind_of(one) is INSIDE for one in found)
    return named or (EVERY if inside else ())


def _called(found: GraphBreak) -> Sequence[str]:
    """The logging functions that one break names; its source line tells where it does not."""
    named, place = functions_of(found), found.place
    if len(named) <= 1 or place is None:
        return named
    calls = _LOG_CALL.findall(linecache.getline(place.file, place.line))
    prefixes = {True: ("logging.",), False: ("logging.", "logging.Logger.")}
    told = [prefix + name for of, name in calls for prefix in prefixes[bool(of)]]
    return told or named


def _made(captured: Mapping[str, Any], functions: Sequence[str], how: str) -> Intervention:
    settings: dict[str, Any] = dict(captured)
    told = [_CAPTURES.get(name, (f"set-{name.replace('_', '-')}", _HINTED)) for name in settings]
    names, tests = [one for one, _ in told], [why for _, why in told]
    if functions:
        settings[how] = list(functions)
        families = list(dict.fromkeys(map(_family, functions)))
        names.append("-".join(["reorder" if how == REORDER else "ignore", *families]))
        tests.append(f"{' and '.join(families)} cannot be traced")
    return Intervention(
        name="+".join(names),
        change=_in_words(settings),
        tests="; ".join(tests),
        settings=settings,
    )


def _family(function: str) -> str:
    """``print``, ``warnings``, ``logging``."""
    module, _, name = function.partition(".")
    return name if module == "builtins" else module


def _in_words(settings: dict[str, Any]) -> str:
    said = [f"{name} = {_value(value)}" for name, value in settings.items()]
    if len(said) == 1:
        return f"torch._dynamo.config.{said[0]}"
    return f"torch._dynamo.config: {', '.join(said)}"


def _value(value: Any) -> str:
    if not isinstance(value, list):
        return repr(value)
    return "{" + ", ".join(path.removeprefix("builtins.") for path in value) + "}"
