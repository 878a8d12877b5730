"""One entry of the runtime's as a fact: size, runs, rejections, guards."""

from __future__ import annotations

import itertools
import types
from typing import Any

from compile_ledger.facts.cache_line import Count, Entry
from compile_ledger.observe.recording.session import counted

from .attempts import Attempt
from .lookup import compile_id, invalid_why, is_valid, root_manager
from .rows import rows

_NOT_COUNTED = "no recorder was in place when the entry was made"


def as_entry(
    raw: Any,
    code: types.CodeType,
    known: list[Attempt],
    scope: dict[str, Any],
    *,
    guards: bool = True,
) -> Entry:
    """Read one entry; nothing of it is run and no counter of it moves.

    ``scope``: the globals that the entry's code runs in, which hold its graphs.
    ``guards``: whether to read them, which is most of the work.
    """
    name = compile_id(raw)
    valid = is_valid(raw)
    return Entry(
        compile_id=name,
        graph_ops=_graph_ops(raw, name, known, scope),
        runs=_runs(raw),
        rejections=_rejections(raw, valid=valid),
        backend=_backend(raw),
        isolate_id=int(getattr(raw, "isolate_recompiles_id", -1)),
        valid=valid,
        invalid_why=invalid_why(raw),
        guards=rows(raw, code) if valid and guards else (),
    )


def _graph_ops(raw: Any, name: str, known: list[Attempt], scope: dict[str, Any]) -> Count:
    """Operations of the captured graph: from the compile's record, else from the graph."""
    for attempt in known:
        if attempt.compile_id == name and attempt.ops is not None:
            return Count(attempt.ops)
    graphs = [graph for graph in map(_graph, _compiled_functions(raw, scope)) if graph is not None]
    if graphs:
        return Count(sum(_calls(graph) for graph in graphs))
    return Count(why="the compile's record is gone, and the backend keeps no graph")


def _compiled_functions(raw: Any, scope: dict[str, Any]) -> list[Any]:
    names = getattr(raw.code, "co_names", ())
    return [scope[name] for name in names if name.startswith("__compiled_fn") and name in scope]


def _graph(function: Any) -> Any:
    """The graph that a compiled function still holds; only ``eager`` keeps it."""
    inner = getattr(function, "_torchdynamo_orig_callable", function)
    return getattr(getattr(inner, "__self__", None), "graph", None)


def _calls(graph: Any) -> int:
    return sum(node.op in ("call_function", "call_method", "call_module") for node in graph.nodes)


def _runs(raw: Any) -> Count:
    """The counter that a recorder put into the compiled code, where one did."""
    for constant in getattr(raw.code, "co_consts", ()):
        owner = getattr(constant, "__self__", None)
        if isinstance(constant, types.MethodWrapperType) and isinstance(owner, itertools.repeat):
            return Count(counted(owner))
    return Count(why=_NOT_COUNTED)


def _rejections(raw: Any, *, valid: bool) -> Count:
    ask = getattr(root_manager(raw), "fail_count", None) if valid else None
    if ask is None:
        return Count(why="the entry is gone" if not valid else "this torch does not count them")
    return Count(int(ask()))


def _backend(raw: Any) -> str:
    backend = getattr(raw, "backend", None)
    name = getattr(backend, "compiler_name", None) or getattr(backend, "__name__", None)
    return str(name or ("" if backend is None else type(backend).__name__))
