"""What broke a graph, by the runtime's own words: what could capture it, or which edit would.

The texts are those of torch 2.13 and, where they differ, of 2.6.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from compile_ledger.facts.graph_break import GraphBreak

SCALARS = "capture_scalar_outputs"
SHAPES = "capture_dynamic_output_shape_ops"
AUTOGRAD = "trace_autograd_ops"
LOGGING = "ignore_logging_functions"
REORDER = "reorderable_logging_functions"


@dataclass(frozen=True, slots=True)
class BreakKind:
    """One kind of break."""

    name: str
    pattern: str
    edit: str
    """The edit that removes it, as an imperative."""
    setting: str = ""
    """The setting of ``torch._dynamo.config`` that could capture it; empty: none is known."""
    never: bool = False
    """Whether it was established that no setting captures it."""
    logs: bool = False
    """Whether it is a call of a logging function, which the setting names."""


_OUTSIDE = "keep it before or after the region"
_NO_BACKWARD = "call backward() outside the region"
KINDS = (
    BreakKind(
        "scalar",
        r"\ATensor\.item\b|Unsupported Tensor\.item\(\) call|_local_scalar_dense",
        "keep the value a tensor; where a branch depends on it, choose with torch.where",
        SCALARS,
    ),
    BreakKind(
        "dynamic-shape",
        r"\A[Dd]ynamic shape operator(?! \(no meta)",
        "use an operation whose result has a fixed shape (torch.where, a mask)",
        SHAPES,
    ),
    BreakKind(
        "print",
        r"builtin operator `print`|\bbuiltin:? print\b",
        "return the value and print it outside the region",
        LOGGING,
        logs=True,
    ),
    BreakKind(
        "warning",
        r"_warnings\.warn\b|module: _warnings, qualname: warn\b",
        "warn outside the region",
        LOGGING,
        logs=True,
    ),
    BreakKind(
        "logger",
        r"logging\.Logger method|\ALogger not supported|LoggingLoggerVariable",
        "log outside the region",
        LOGGING,
        logs=True,
    ),
    BreakKind(
        "requested",
        r"torch\._dynamo\.graph_break\(\)|skip function graph_break\b",
        "where this line calls torch._dynamo.graph_break() itself, take that out; library code "
        "behind it may do so by design (an optimizer's step does): keep the call at this line "
        "out of larger regions",
        never=True,
    ),
    # torch names the setting in the break's explanation where it has it.
    BreakKind(
        "backward", rf"{AUTOGRAD}(?: is off|=False|` set to `False`)", _NO_BACKWARD, AUTOGRAD
    ),
    BreakKind("backward", r"\A.*(?:Tensor\.backward\b|autograd\.grad\b)", _NO_BACKWARD),
    BreakKind(
        "disabled",
        r"torch\.compiler\.disable|_dynamo\.disable",
        f"take the disable away, or call the function so that the region does not: {_OUTSIDE}",
        never=True,
    ),
    BreakKind(
        "unknown-size",
        r"\ACould not guard on data-dependent expression .*\bu\d+\b",
        "keep a size that this line has to know out of what is unbacked: use mark_dynamic in "
        "place of mark_unbacked, or torch._check what holds of it",
    ),
    BreakKind(
        "branch",
        r"[Dd]ata-dependent branching|generic_jump|[Gg]uard on data-dependent|"
        r"data-dependent expression",
        "compute both sides and choose with torch.where, or use torch.cond, "
        "or decide outside the region",
        never=True,
    ),
    BreakKind(
        "side-effect",
        r"\AHOP: ",
        "make the change outside the function that the operator calls: return the value",
    ),
    BreakKind(
        "recurrent",
        r"\A.*\bRNN, GRU,? (?:or|and) LSTM\b",
        "keep the recurrent layer outside the region, and compile what is around it",
        "allow_rnn",
    ),
    BreakKind(
        "ddp",
        r"DDPOptimizer intentional|_inside_ddp_forward|set_runtime_stats_and_log",
        "leave it: DistributedDataParallel's own forward runs in Python, and what it wraps is "
        "compiled in buckets, so that communication overlaps the backward pass",
    ),
    BreakKind("numpy", r"(?i)\bnumpy\b", "write it with torch operations, or " + _OUTSIDE),
    BreakKind(
        "context", r"context manager|ContextWrapping", "put the with block around the region"
    ),
    BreakKind(
        "foreign-call",
        r"marked as skipped|builtin|skip function|[Uu]nsupported (?:function|method) call",
        "keep the call before or after the region, or make it an operator "
        "(torch.library.custom_op)",
    ),
)
OTHER = BreakKind("other", "", "rewrite this line, or " + _OUTSIDE)
INSIDE = BreakKind("inside-logging", "", "log outside the region", LOGGING)
"""A break inside the logging package: it is there because a log call of the user's is traced."""

EMITS = ("debug", "info", "warning", "error", "exception", "critical", "log")
"""Functions of the logging module, and methods of its loggers, that write a record."""
EVERY = (*(f"logging.{name}" for name in EMITS), *(f"logging.Logger.{name}" for name in EMITS))
_EXAMPLE = re.compile(r"\(e\.g\.[^)]*\)")
_INSIDE = re.compile(r"(?:[\\/]python[\d.]+t?|[\\/]Lib)[\\/]logging[\\/]\w+\.py\Z")
"""A file of the standard library's logging package."""
_METHOD = re.compile(r"method: <\w*Logger .*?>\.(\w+)")


def kind_of(found: GraphBreak) -> BreakKind:
    """The kind of a break, by its reason and the runtime's explanation."""
    if found.place is not None and _INSIDE.search(found.place.file):
        return INSIDE
    text = _said(found)
    return next((kind for kind in KINDS if re.search(kind.pattern, text)), OTHER)


def _said(found: GraphBreak) -> str:
    """What the runtime says of this break, without its hints and its examples of other things."""
    lines = (line.strip() for line in found.explanation.splitlines())
    said = "\n".join([found.reason, *(line for line in lines if not line.startswith("Hint:"))])
    return _EXAMPLE.sub("", said)


def functions_of(found: GraphBreak) -> tuple[str, ...]:
    """The logging functions that a break names, by their import paths; empty: it is no such call.

    Where only a part of the logging module is named, all that write a record.
    """
    kind = kind_of(found)
    if not kind.logs:
        return ()
    if kind.name != "logger":
        return ("builtins.print",) if kind.name == "print" else ("warnings.warn",)
    named = _METHOD.search(_said(found))
    return (f"logging.Logger.{named.group(1)}",) if named else EVERY


_HINTS = re.compile(
    r"(?:torch\._dynamo\.config\.(\w+)`?|\bexport TORCHDYNAMO_([A-Z_]+)) ?= ?"
    r"(True|False|\d+|\"[\w-]+\")(?!\w)"
)
_NO_CURE = frozenset({"suppress_errors", "verbose", "disable", "replay_record_enabled"})
"""Settings that messages name to see more, or to pass an error over: they capture nothing."""


def settings_named(text: str) -> dict[str, bool | int | str]:
    """The settings of ``torch._dynamo.config`` that a message of torch's tells to set."""
    found = ((one or other.lower(), value) for one, other, value in _HINTS.findall(text))
    return {name: _value(value) for name, value in found if name not in _NO_CURE}


def _value(text: str) -> bool | int | str:
    if text in ("True", "False", "1", "0"):
        return text in ("True", "1")
    return int(text) if text.isdigit() else text.strip('"')


def cures(found: GraphBreak) -> dict[str, bool | int | str]:
    """The settings that could capture a break: its kind's, and those that torch's text names."""
    kind = kind_of(found)
    if kind.never or kind.setting == LOGGING:
        return {}
    named = settings_named(f"{found.reason}\n{found.explanation}")
    return {kind.setting: True} | named if kind.setting else named


def could_capture(found: GraphBreak) -> tuple[str, ...]:
    """The settings that could capture a break, the one to try first first.

    A call that is moved behind the graph still prints; no method of a logger's can be moved.
    """
    kind = kind_of(found)
    if kind.setting != LOGGING:
        return tuple(cures(found))
    if kind is INSIDE or kind.name == "logger":
        return (LOGGING, REORDER)
    return (REORDER, LOGGING)


def removal(found: GraphBreak, tested: str = "", edit: str = "") -> str:
    """What could remove a break; a setting is a prediction until an arm has shown it.

    ``tested``: what a change did to it in an experiment. ``edit``: where that of its
    kind cannot be made.
    """
    kind = kind_of(found)
    edit = edit or kind.edit
    if tested:
        return f"{tested}; or an edit: {edit}"
    if kind is INSIDE:
        return f"it comes with a log call: what captures that call could; or an edit: {edit}"
    settings = could_capture(found)
    if not settings:
        return f"{no_setting(found)}; an edit: {edit}"
    value = _named(functions_of(found)) if kind.logs else repr(cures(found)[settings[0]])
    return f"torch._dynamo.config.{settings[0]} = {value} could; or an edit: {edit}"


def no_setting(found: GraphBreak) -> str:
    """Why no setting was tried: none captures such a break, or torch names none."""
    known = kind_of(found).never or "This graph break is fundamental" in found.explanation
    return "no setting captures it" if known else "torch's message names no setting for it"


def _named(functions: tuple[str, ...]) -> str:
    """A set of functions; where the break names no single one, in words."""
    one = functions[0].removeprefix("builtins.")
    return "{" + (one if len(functions) == 1 else "the logging functions that it calls") + "}"
