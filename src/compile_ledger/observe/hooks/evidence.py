"""What the runtime knows at a miss: causes, limits, breaks, metrics, symbols.

Each comes from one attribute of one module of torch, patched; no log text is read.
The names are those of torch 2.13; the older ones are given beside them.
"""

from __future__ import annotations

import functools
import itertools
from typing import TYPE_CHECKING, Any

from compile_ledger.facts.compile import Symbol
from compile_ledger.facts.what_if import EntryAnswer
from compile_ledger.observe.cache_line.lookup import listed
from compile_ledger.observe.capabilities import Capabilities, need
from compile_ledger.observe.recording.session import Session
from compile_ledger.observe.stack import callers
from compile_ledger.observe.what_if.at_miss import ask_at_miss

from .breaks import as_break, unsupported_of
from .misses import as_reasons, current, entry_count, stance_refused
from .own_code import ours
from .stand_in import hide, stand_in

if TYPE_CHECKING:
    from collections.abc import Callable

_MOST = 64
_REASONS = "get_and_maybe_log_recompilation_reasons"


def install(session: Session, capabilities: Capabilities) -> None:
    """Patch what this torch has; each in its own attempt."""
    for name, shows, hook in (
        ("recompile-reasons", "why each entry refused a call", _hook_reasons),
        ("stance", "calls that fail_on_recompile refused", _hook_stance),
        ("limit", "which limit was hit", _hook_limit),
        ("graph-breaks", "place and reason of each break", _hook_breaks),
        ("break-causes", "what Dynamo met where it names a consequence only", _hook_causes),
        ("compile-metrics", "durations, operations, guards, caches", _hook_metrics),
        ("symbols", "sizes and numbers that became symbolic", _hook_symbols),
        ("automatic-dynamic", "dimensions that automatic dynamic shapes chose", _hook_automatic),
    ):
        capabilities.attempt(name, shows, functools.partial(hook, session))


def _after(session: Session, owner: Any, name: str, look: Callable[[Any, Any], None]) -> None:
    """Call ``look(arguments, result)`` after each call of ``owner.name``.

    Keyword arguments stand behind the others.
    """
    original = getattr(owner, name)

    def watched(*args: Any, **kwargs: Any) -> Any:
        try:
            result = original(*args, **kwargs)
        except BaseException as error:
            hide(error)
            raise
        session.contained(look, (*args, *kwargs.values()), result)
        return result

    stand_in(session, owner, name, watched)


def _hook_reasons(session: Session) -> None:
    from torch._dynamo import convert_frame

    name = need(
        convert_frame,
        "get_and_maybe_log_recompilation_reasons",
        "get_and_maybe_log_recompilation_reason",
    )

    @ours
    def recompile_reasons(args: Any, result: Any) -> None:
        miss = current(session)
        if miss is not None and result:
            miss.reasons = as_reasons(result)
            miss.answers = session.contained(_answers, *args[:2]) or ()

    _after(session, convert_frame, name, recompile_reasons)


def _answers(entries: Any, frame: Any) -> tuple[EntryAnswer, ...]:
    """What the entries that refused a frame say of all their guards."""
    return ask_at_miss(listed(entries), frame.f_code, dict(frame.f_locals))


def _hook_stance(session: Session) -> None:
    """Under ``fail_on_recompile`` a miss asks for its reasons where there are entries, and raises.

    Before that it asks whether the frame holds a tensor: where that is the last question (no
    entry to refuse, or a torch that gives no reasons), the miss is noted there.
    """
    from torch._dynamo import convert_frame, guards

    need(convert_frame, "has_tensor_in_frame")

    @ours
    def without_reasons(args: Any, result: Any) -> None:
        near = itertools.islice(callers(2), 4)
        asker = next((frame for frame in near if frame.f_code.co_name == "fail_callback"), None)
        if not result or asker is None:
            return
        if _REASONS not in asker.f_code.co_names or not entry_count(args[0].f_code):
            stance_refused(session, args[0].f_code, ())

    @ours
    def refused(args: Any, result: Any) -> None:
        next(session.asked)
        answers = session.contained(_answers, *args[:2]) or ()
        stance_refused(session, args[1].f_code, result, answers)

    _after(session, convert_frame, "has_tensor_in_frame", without_reasons)
    if hasattr(guards, _REASONS):
        _after(session, guards, _REASONS, refused)


def _hook_limit(session: Session) -> None:
    from torch._dynamo import config, convert_frame

    name = need(convert_frame, "exceeds_recompile_limit", "exceeds_cache_size_limit")

    @ours
    def limit(_args: Any, result: Any) -> None:
        miss = current(session)
        exceeded, which = result
        if miss is not None and exceeded:
            miss.limit = str(which)
            miss.limit_value = getattr(config, miss.limit, None)

    _after(session, convert_frame, name, limit)


def _hook_breaks(session: Session) -> None:
    from torch._dynamo import output_graph

    need(output_graph, "GraphCompileReason")

    @ours
    def graph_break(args: Any, _result: Any) -> None:
        miss = current(session)
        reason = args[0]
        if miss is not None and reason.graph_break and len(miss.breaks) < _MOST:
            text = str(reason.reason)
            met = miss.met if miss.met and text.startswith((_STEP, _JUMP, miss.met.said)) else None
            left = "rest" if text == _STEP else ""
            found = as_break(text, reason.user_stack, miss.caller, met, left)
            if found not in miss.breaks:
                miss.breaks.append(found)

    _after(session, output_graph.GraphCompileReason, "__post_init__", graph_break)


_STEP, _JUMP = "step_unsupported", "generic_jump"
"""Reasons that name what the runtime does, and not what it met."""


def _hook_causes(session: Session) -> None:
    """Every break is logged with its exception, before the graph that it ends is compiled."""
    from torch._dynamo import symbolic_convert

    translator = symbolic_convert.InstructionTranslatorBase
    need(translator, "log_graph_break")

    @ours
    def break_cause(args: Any, _result: Any) -> None:
        miss = current(session)
        error = next((one for one in args if isinstance(one, BaseException)), None)
        if miss is not None and error is not None:
            miss.met = unsupported_of(args[0], error)

    _after(session, translator, "log_graph_break", break_cause)


def _hook_metrics(session: Session) -> None:
    from torch._dynamo import utils

    name = need(utils, "log_compilation_event")

    @ours
    def compile_metrics(args: Any, _result: Any) -> None:
        miss = current(session)
        metrics = args[0]
        if miss is not None and getattr(metrics, "is_forward", True) is not False:
            miss.metrics = metrics

    _after(session, utils, name, compile_metrics)


def _hook_symbols(session: Session) -> None:
    from torch.fx.experimental.symbolic_shapes import ShapeEnv

    need(ShapeEnv, "create_symbol")

    @ours
    def symbol(args: Any, result: Any) -> None:
        miss = current(session)
        if miss is not None and getattr(result, "is_Symbol", False) and len(miss.symbols) < _MOST:
            _self, value, source = args[:3]
            miss.symbols.append(Symbol(str(result), _source_name(source), str(value)[:100]))

    _after(session, ShapeEnv, "create_symbol", symbol)


def _source_name(source: Any) -> str:
    name = getattr(source, "name", "")
    return str(name() if callable(name) else name)[:300]


def _hook_automatic(session: Session) -> None:
    from torch._dynamo import pgo

    need(pgo, "update_automatic_dynamic")

    @ours
    def automatic_dynamic(args: Any, result: Any) -> None:
        miss = current(session)
        if miss is not None:
            miss.automatic.extend(_dynamic_axes(str(args[1]), result))

    _after(session, pgo, "update_automatic_dynamic", automatic_dynamic)


def _dynamic_axes(source: str, entry: Any) -> list[str]:
    """``x[1]`` for each axis, ``n`` for a number, that the entry holds as dynamic."""
    size = getattr(entry, "size", None)
    if isinstance(size, tuple):
        return [f"{source}[{axis}]" for axis, value in enumerate(size) if _is_dynamic(value)]
    return [source] if _is_dynamic(getattr(entry, "scalar", None)) else []


def _is_dynamic(value: Any) -> bool:
    return type(value).__name__ == "AutoDynamic"
