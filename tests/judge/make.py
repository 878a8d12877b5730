"""Facts made by hand: the fewest words that describe an arm."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from compile_ledger.facts.agreement import Agreement, AgreementStatus
from compile_ledger.facts.arm import Arm, Header
from compile_ledger.facts.calls import Call, Disposition
from compile_ledger.facts.compile import Compile, MissOutcome
from compile_ledger.facts.contract import Contract
from compile_ledger.facts.environment import Environment
from compile_ledger.facts.place import Place, Raised
from compile_ledger.facts.region import CodeObject, Region
from compile_ledger.facts.timing import SteadyState
from compile_ledger.judge.choose import Arms

SITE = Place("serve.py", 5)
LENGTHS = (60, 63, 69, 16, 19, 75, 19, 55, 25, 35, 37, 66, 52)
"""The chapter's thirteen request lengths."""
INDUCTOR = Contract(target="serve.py")
EAGER_BACKEND = Contract(target="serve.py", own_backend="eager")

_LETTERS: dict[str, Disposition] = {
    "c": "compiled",
    "r": "recompiled",
    ".": "reused",
    "x": "refused",
    "f": "fell_back",
    "o": "switched_off",
    "s": "skipped",
    "!": "raised",
}
_SERVED = "cr."


def arm(name: str, **fields: Any) -> Arm:
    """An arm on torch 2.13.0."""
    header = Header("compile-ledger", 1, "test", 1, environment=Environment(torch="2.13.0"))
    return Arm(name=name, header=header, **fields)


def arms(*every: Arm) -> Arms:
    """Arms by name."""
    return {one.name: one for one in every}


def region(number: int = 0, target: str = "encode", **fields: Any) -> Region:
    """A region of ``serve.py``."""
    fields = {"site": SITE, "root": 0, **fields}
    return Region(number, target, **fields)


def code(number: int = 0, name: str = "encode", **fields: Any) -> CodeObject:
    """A code object of ``serve.py``."""
    return CodeObject(number, name, **{"file": "serve.py", "line": 9, **fields})


def calls(pattern: str, region: int = 0, start_ns: int = 0, **fields: Any) -> tuple[Call, ...]:
    """One call a letter: c r . x f o s ! as in ``_LETTERS``; 1 graph where one serves."""
    return tuple(
        Call(
            region,
            i,
            _LETTERS[letter],
            at_ns=start_ns + 100 * (i + 1),
            **{"cpu_ns": 1000, "wall_ns": 1000, "graphs": int(letter in _SERVED), **fields},
        )
        for i, letter in enumerate(pattern)
    )


def eager_calls(number: int, region: int = 0) -> tuple[Call, ...]:
    """Calls of an arm that runs eager by request."""
    return tuple(Call(region, i, None, cpu_ns=1000) for i in range(number))


def compile_at(
    call: int, outcome: MissOutcome = "compiled", *reasons: str, **fields: Any
) -> Compile:
    """A cache miss during one call of region 0."""
    base: dict[str, Any] = {
        "code_object": 0,
        "region": 0,
        "call": call,
        "started_ns": 100 * (call + 1) + 1,
        "entries_before": len(reasons),
        "reasons": reasons,
        "graph_ops": 3 if outcome in ("compiled", "recompiled") else None,
        "compile_id": f"0/{len(reasons)}",
    }
    base.update(fields)
    return Compile(outcome=outcome, **base)


def size(subject: str, axis: int, expected: int, actual: int, entry: str = "") -> str:
    """A size guard's text as torch 2.13 words it."""
    prefix = f"{entry}: " if entry else ""
    return (
        f"{prefix}tensor '{subject}' size mismatch at index {axis}. "
        f"expected {expected}, actual {actual}"
    )


def length_compiles(lengths: Sequence[int], limit: int = 8) -> tuple[Compile, ...]:
    """Compiles of a static line that serves one length an entry, until the limit."""
    entries: list[int] = []
    found = []
    for call, length in enumerate(lengths):
        if length in entries:
            continue
        reasons = [size("idx", 1, e, length, f"0/{i}") for i, e in enumerate(entries)][::-1]
        outcome: MissOutcome = (
            "refused" if len(entries) >= limit else "recompiled" if entries else "compiled"
        )
        limited = {"limit": "recompile_limit", "limit_value": limit} if outcome == "refused" else {}
        found.append(compile_at(call, outcome, *reasons, **limited))
        if outcome == "refused":
            break
        entries.append(length)
    return tuple(found)


def chapter(name: str = "capture", **fields: Any) -> Arm:
    """The chapter's stream under ``dynamic=False``: 8 entries, then the limit."""
    return arm(
        name,
        **{
            "regions": (region(),),
            "code_objects": (code(),),
            "calls": calls("crrrrr.rrxfff"),
            "compiles": length_compiles(LENGTHS),
            **fields,
        },
    )


def healthy(name: str = "capture", number: int = 13, **fields: Any) -> Arm:
    """One compile, then reuse."""
    return arm(
        name,
        **{
            "regions": (region(),),
            "code_objects": (code(),),
            "calls": calls("c" + "." * (number - 1)),
            "compiles": (compile_at(0),),
            **fields,
        },
    )


def eager(number: int = 13, **fields: Any) -> Arm:
    """The eager arm of region 0."""
    return arm("eager", **{"regions": (region(),), "calls": eager_calls(number), **fields})


def raised(kind: str = "ValueError", message: str = "bad", line: int = 7) -> Raised:
    """An exception that left ``serve.py``."""
    return Raised(kind, message, Place("serve.py", line))


def agree(leaf: str = "out", status: AgreementStatus = "within", **fields: Any) -> Agreement:
    """How one leaf of call 0 compares."""
    base: dict[str, Any] = {"region": 0, "call": 0, "dtype": "float32", "shape": (2,), **fields}
    return Agreement(leaf=leaf, status=status, **base)


def steady(eager_ns: int, compiled_ns: int, noise: int = 0, number: int = 60) -> SteadyState:
    """Steady-state samples of region 0, each off by up to ``noise`` nanoseconds."""
    draw = random.Random(7)  # noqa: S311  not for secrets

    def side(middle: int) -> tuple[int, ...]:
        return tuple(middle + draw.randint(-noise, noise) for _ in range(number))

    eager, again, compiled = side(eager_ns), side(eager_ns), side(compiled_ns)
    return SteadyState(
        region=0,
        design="interleaved calls",
        eager=eager,
        eager_again=again,
        compiled=compiled,
        wall_eager=eager,
        wall_compiled=compiled,
    )
