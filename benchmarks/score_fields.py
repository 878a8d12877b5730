"""Compare one ledger with one ``expect.json``, field by field.

Each field is ``equal``, ``differs``, ``absent`` (the ledger does not say) or ``prose``
(stated in words: to be compared by eye).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

State = Literal["equal", "differs", "absent", "prose"]
Ledger = dict[str, Any]

_EAGER = ("refused", "fell_back", "switched_off", "skipped", "raised")
_FIRST_CALL = ("first_bad_call", "first_eager_call", "first_wrong_call", "wrong_call")
_BY_MECHANISM: dict[str, str] = {
    "aliasing": r"output-differs|numerics|recompile-aliasing",
    "autograd_region": r"graph-break|frame-skipped",
    "code_cache": r"fresh-code|limit-without-effect|cache-limit|shared-line|compile-in-loop|"
    r"recompile-",
    "compiler_error": r"compiled-raises|toolchain-missing",
    "constraint_violation": r"compiled-raises",
    "container_guard": r"recompile-(length|dict-keys|set-elements|iterator|type)",
    "data_dependent": r"graph-break|frame-skipped|no-graph",
    "dtype_semantics": r"output-differs|numerics",
    "entry_overhead": r"not-worth-it",
    "global_state_guard": r"recompile-(global-state|function-mode|default-device|functorch|"
    r"tensor-hooks|dual-level)",
    "identity_guard": r"recompile-(identity|function-code|type|invalidated)",
    "missing_guard": r"output-differs|side-effect-lost|numerics",
    "no_gain": r"not-worth-it",
    "not_amortised": r"not-worth-it",
    "permanent_skip": r"no-graph|switched-off|frame-skipped",
    "python_value_guard": r"recompile-(constant.*|relation|iterator)",
    "rng": r"output-differs|numerics",
    "shape_guard": r"recompile-(shape|rank|relation|stride)",
    "side_effect": r"side-effect-lost|output-differs",
    "tensor_meta_guard": r"recompile-(dtype|device|dispatch-keys|requires-grad|stride|"
    r"tensor-type|rank)",
    "unresumable_block": r"no-graph|frame-skipped|graph-break",
    "untraceable_call": r"no-graph|frame-skipped|graph-break",
}
"""Which findings a mechanism may be told by."""


@dataclass(frozen=True)
class Field:
    """One stated field, and what the ledger has for it."""

    name: str
    state: State
    expected: Any
    found: Any


def compare_fields(expected: dict[str, Any], ledger: Ledger) -> list[Field]:
    """Every field that ``expect.json`` states, against the ledger."""
    return [
        *_mechanism(expected, ledger),
        *_measured(expected.get("measured", {}), ledger),
        *_evidence(expected.get("evidence", {}), ledger),
        *_experiment(expected.get("smallest_experiment"), ledger),
        *_observation(expected.get("observation", ""), ledger),
    ]


def leading(ledger: Ledger) -> dict[str, Any]:
    """The finding of the diagnosis; where no level fails, the note of what settled."""
    diagnosis = ledger["diagnosis"] or {}
    wanted = diagnosis.get("finding")
    for finding in ledger["findings"]:
        if finding["id"] == wanted or (not wanted and finding["slug"] == "settled"):
            return dict(finding)
    return {}


def _mechanism(expected: dict[str, Any], ledger: Ledger) -> Iterator[Field]:
    wanted, found = expected["mechanism"], leading(ledger)
    slug = found.get("slug", "")
    if slug == "settled":
        slug = found.get("cause", "")
    if wanted in ("healthy", "rounding"):
        yield _field("mechanism", None, (ledger["diagnosis"] or {}).get("slug"))
    elif not found:
        yield Field("mechanism", "absent", wanted, None)
    else:
        right = re.fullmatch(rf"(?:{_BY_MECHANISM.get(wanted, wanted)}).*", slug)
        yield Field("mechanism", "equal" if right else "differs", wanted, slug)


def _field(name: str, expected: Any, found: Any) -> Field:
    state: State = "equal" if expected == found else "differs"
    return Field(name, state, expected, found)


def _total(key: str) -> Callable[[Ledger], int | None]:
    def total(ledger: Ledger) -> int | None:
        counted = [row[key] for row in ledger["code_objects"] if row.get(key) is not None]
        return sum(counted) if counted else None

    return total


def recompiles(ledger: Ledger) -> int:
    """Compiles beyond the first, over all code objects."""
    return sum(max(0, row["compiles"] - 1) for row in ledger["code_objects"])


def _eager_calls(ledger: Ledger) -> int:
    return sum(row["dispositions"][name] for row in ledger["regions"] for name in _EAGER)


def _graph_breaks(ledger: Ledger) -> int:
    return sum(row["seen"] for row in ledger["breaks"])


def _hits(ledger: Ledger) -> int | None:
    """Runs of entries but the first of each, which follows its compile."""
    runs = [e["runs"] for row in ledger["code_objects"] for e in row["cache_line"]]
    return None if None in runs else sum(max(0, number - 1) for number in runs)


def _per_call(ledger: Ledger) -> list[int] | None:
    """Graph runs of each call of the arm that decided."""
    arm = next((a for a in ledger["arms"] if a["name"] in ("cold", "correct", "capture")), None)
    runs = [call.get("graphs") for call in arm["calls"]] if arm else []
    return None if not runs or None in runs else runs


_COUNTS: dict[str, Callable[[Ledger], Any]] = {
    "compile_attempts": _total("attempts"),
    "compiles_kept": _total("compiles"),
    "recompiles": recompiles,
    "graphs": _total("graphs"),
    "graph_runs": _total("graph_runs"),
    "limit_hits": lambda ledger: sum(bool(row["limit"]) for row in ledger["code_objects"]),
    "calls_without_compiled_code": _eager_calls,
    "guard_hits": _hits,
    "graph_breaks": _graph_breaks,
    "per_call_graph_runs": _per_call,
}


def _measured(counts: dict[str, Any], ledger: Ledger) -> Iterator[Field]:
    for name, count_of in _COUNTS.items():
        if name in counts:
            found = count_of(ledger)
            if found is None:
                yield Field(name, "absent", counts[name], None)
            else:
                yield _field(name, counts[name], found)


def _evidence(evidence: dict[str, Any], ledger: Ledger) -> Iterator[Field]:
    found = leading(ledger)
    said = _words(found, ledger)
    for name, wanted in evidence.items():
        if name == "dim":
            yield _field(name, wanted, found.get("axis"))
        elif name in ("expected", "actual"):
            yield _value(name, wanted, found.get(name))
        elif name == "first_fallback_call":
            yield _field(name, wanted, _fallback(ledger))
        elif name in _FIRST_CALL:
            yield _field(name, wanted, found.get("first_call"))
        elif name == "source_line":
            yield _line(name, wanted, found)
        elif name in ("tensor", "name"):
            yield _named(name, str(wanted), found)
        else:
            yield Field(name, "equal" if _in(wanted, said) else "prose", wanted, said[:160])


def _fallback(ledger: Ledger) -> int | None:
    """The first call that a limit or a silent lookup sent to eager."""
    lost = [f for f in ledger["findings"] if f["slug"] in ("cache-limit", "silent-eager")]
    return min((f["first_call"] for f in lost if f["first_call"] is not None), default=None)


def _value(name: str, wanted: Any, found: Any) -> Field:
    if isinstance(wanted, str) and not re.fullmatch(r"[\w.]+", wanted):
        return Field(name, "prose", wanted, found)
    return _field(name, str(wanted), found)


def _named(name: str, wanted: str, found: dict[str, Any]) -> Field:
    """A name that is stated with a remark begins with the name."""
    subject, sentence = found.get("subject", ""), found.get("sentence", "")
    first = wanted.split(" ", maxsplit=1)[0]
    state: State = "equal" if subject and (subject in wanted or first in sentence) else "differs"
    return Field(name, state, wanted, subject)


def _line(name: str, wanted: str | None, found: dict[str, Any]) -> Field:
    """The stated source line is the text of the place that the finding names."""
    texts = [text for key in ("guarded", "site") if (text := _text(found.get(key)))]
    if wanted is None:
        return Field(name, "prose", wanted, texts)
    start = wanted.split("...")[0].strip()
    state: State = "equal" if any(start in text for text in texts) else "differs"
    return Field(name, state, wanted, texts)


def _text(place: dict[str, Any] | None) -> str:
    if not place:
        return ""
    try:
        with open(place["file"], encoding="utf-8") as file:  # noqa: PTH123
            return str(file.read().splitlines()[place["line"] - 1]).strip()
    except (OSError, IndexError):
        return ""


def _words(found: dict[str, Any], ledger: Ledger) -> str:
    quoted = (row["text"] for row in found.get("evidence", ()))
    return "; ".join([found.get("sentence", ""), ledger["verdict"], *quoted])


def _in(wanted: Any, said: str) -> bool:
    return isinstance(wanted, (str, int, float)) and str(wanted) in said


def _experiment(stated: dict[str, Any] | None, ledger: Ledger) -> Iterator[Field]:
    ran = [f"{row['outcome']}: {row['change']}" for row in ledger["experiments"]]
    if stated:
        yield Field("smallest_experiment", "prose" if ran else "absent", stated["change"], ran)


def _observation(stated: str, ledger: Ledger) -> Iterator[Field]:
    if stated:
        stable = next(row for row in ledger["levels"] if row["level"] == "STABLE")
        settles = re.search(r"settles after (\d+)", stated)
        said = f"settled after {settles.group(1)} recompile" if settles else stated
        right = stable["status"] == "holds" and said in stable["why"]
        yield Field("observation", "equal" if right else "differs", stated, stable["why"])
