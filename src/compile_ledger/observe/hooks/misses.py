"""H2: cache misses. Every frame evaluation that reaches Dynamo, and what came of it.

Runs only when no entry took the call, so it costs nothing in steady state.
"""

from __future__ import annotations

import dataclasses
import time
from typing import TYPE_CHECKING, Any

from compile_ledger.facts.compile import Compile, MissOutcome, Phases
from compile_ledger.facts.graph_break import GraphBreak
from compile_ledger.facts.place import Place, Raised
from compile_ledger.facts.what_if import EntryAnswer
from compile_ledger.observe.capabilities import need
from compile_ledger.observe.clock import cpu_ns
from compile_ledger.observe.recording.session import CodeState, Session, Stop
from compile_ledger.observe.stack import describe, entered_by_region, lines_here

from .breaks import Unsupported, as_break
from .call_number import call_of_stack
from .entries import entry_of
from .own_code import ours
from .regions import region_of
from .stand_in import hide, stand_in

if TYPE_CHECKING:
    from types import CodeType

    from .regions import RegionState

_RUN_ONLY = 2
_SOFT = ("Unsupported", "UserError", "SkipFrame", "RecompileLimitExceeded", "")
"""Exceptions for which Dynamo leaves a frame to Python whatever the settings."""


class Miss:
    """A miss while it is being handled; evidence hooks add to it."""

    __slots__ = (
        "answers",
        "asked",
        "automatic",
        "began",
        "breaks",
        "bucket",
        "call",
        "caller",
        "code",
        "compile_id",
        "cpu",
        "entries",
        "is_root",
        "limit",
        "limit_value",
        "met",
        "metrics",
        "outer",
        "reasons",
        "region",
        "started",
        "symbols",
    )

    def __init__(self, session: Session, code: CodeState, entries: int, outer: Miss | None) -> None:
        self.asked = False
        self.code = code
        self.entries = entries
        self.outer = outer
        self.region, self.call = call_of_stack(region_of)
        self.caller = lines_here().user
        self.bucket = present_bucket()
        self.is_root = _may_be_root(self.region, code) and entered_by_region()
        self.compile_id = ""
        self.reasons: list[str] = []
        self.answers: tuple[EntryAnswer, ...] = ()
        self.limit = ""
        self.limit_value: int | None = None
        self.breaks: list[Any] = []
        self.met: Unsupported | None = None
        """What ended the last graph that was traced, as its exception said."""
        self.symbols: list[Any] = []
        self.automatic: list[str] = []
        self.metrics: Any = None
        self.started = session.now()
        self.cpu = cpu_ns()
        self.began = time.perf_counter_ns()


def _may_be_root(region: RegionState | None, code: CodeState) -> bool:
    """A region has one first frame; further ones may be entered through torch's own code."""
    return region is None or region.first_code in (None, code.fact.id)


def current(session: Session) -> Miss | None:
    """The miss being handled on this thread, innermost."""
    return getattr(session.local, "miss", None)


def install(session: Session) -> None:
    """Patch the runtime's callback. Raises ``MissingError`` on a torch without it."""
    from torch._dynamo import convert_frame

    need(convert_frame, "CatchErrorsWrapper")
    target = convert_frame.CatchErrorsWrapper
    original = target.__call__

    def call(self: Any, frame: Any, *args: Any, **kwargs: Any) -> Any:
        miss = session.contained(_before, session, frame.f_code, args)
        try:
            result = original(self, frame, *args, **kwargs)
        except BaseException as error:
            hide(error)
            if miss is not None:
                session.contained(_after, session, miss, None, error)
            raise
        if miss is not None:
            session.contained(_after, session, miss, result, None)
        return result

    stand_in(session, target, "__call__", call)


def as_reasons(told: Any) -> list[str]:
    """The runtime's texts of why each entry refused a call, kept short; none: empty."""
    return [str(reason)[:2000] for reason in told or ()][:256]


@ours
def _before(session: Session, code: CodeType, rest: tuple[Any, ...]) -> Miss:
    asked = bool(rest) and rest[0] is not None  # The entries that the lookup saw.
    if asked:
        next(session.asked)
    state = session.code_state(code)
    miss = Miss(session, state, entry_count(code), current(session))
    miss.asked = asked
    session.local.miss = miss
    return miss


def present_bucket() -> int:
    """The bucket of ``isolate_recompiles`` that the present region uses; -1: the shared one."""
    from torch._C._dynamo import eval_frame

    ask = getattr(eval_frame, "get_eval_frame_isolate_recompiles_id", None)
    return -1 if ask is None else int(ask())


def entry_count(code: CodeType) -> int:
    """Entries on a code object that the present region can use."""
    from torch._C._dynamo import eval_frame

    if hasattr(eval_frame, "_get_cache_entries_for_region"):
        bucket = present_bucket()
        return len(eval_frame._get_cache_entries_for_region(code, bucket))  # noqa: SLF001
    return len(eval_frame._debug_get_cache_entry_list(code))  # noqa: SLF001


@ours
def _after(session: Session, miss: Miss, result: Any, error: BaseException | None) -> None:
    session.local.miss = miss.outer
    outcome, guarded, why = _judge(miss, result, error)
    entry = None
    if guarded is not None:
        miss.compile_id = str(getattr(guarded, "compile_id", None) or miss.compile_id)
        next(session.kept)
        entry = entry_of(session, guarded.code)
        if entry is not None:
            miss.compile_id = entry.compile_id
            entry.note_ops(getattr(miss.metrics, "graph_op_count", None))
    _note_state(session, miss, outcome, why)
    if outcome == "skipped" and miss.code.fact.library:
        return
    session.tell(miss.code)
    _name_root(session, miss, outcome)
    raised = None if error is None else describe(error, miss.caller)
    fact = _fact(session, miss, outcome, why, raised)
    if entry is not None:
        fact = dataclasses.replace(fact, calls_graph=entry.calls_graph)
        entry.fact = fact
    session.misses += 1
    _tell(session, fact, asked=miss.asked)


@ours
def _tell(session: Session, fact: Compile, *, asked: bool) -> None:
    """Write a miss, and note it under its call where calls or their order are kept."""
    session.sink.write(fact)
    if session.calls is not None:
        session.calls.saw_miss(fact)
    if session.timeline is not None:
        session.timeline.saw_miss(fact, asked=asked)


@ours
def stance_refused(
    session: Session, code: CodeType, reasons: Any, answers: tuple[EntryAnswer, ...] = ()
) -> None:
    """Note a miss that never reached the compiler: the stance makes it raise."""
    state = session.code_state(code)
    session.tell(state)
    miss = Miss(session, state, entry_count(code), current(session))
    miss.reasons = as_reasons(reasons)
    miss.answers = answers
    why = "the stance fail_on_recompile refuses a new entry"
    fact = _fact(session, miss, "raised", why, Raised("RuntimeError", why))
    _tell(session, dataclasses.replace(fact, stance="fail_on_recompile"), asked=True)


def _name_root(session: Session, miss: Miss, outcome: MissOutcome) -> None:
    """A region's first code object is the one of its first miss that is no rule's skip."""
    region = miss.region
    if region is None or region.first_code is not None or outcome == "skipped":
        return
    region.first_code = miss.code.fact.id
    if session.calls is None and region.root_next:
        session.set_root(region, miss.code.fact.id)


def _note_state(session: Session, miss: Miss, outcome: MissOutcome, why: str) -> None:
    """Whether Dynamo goes on with this code object; a new entry shows that it does."""
    stopped = miss.code.stopped
    if outcome in ("compiled", "recompiled"):
        stopped.pop(miss.bucket, None)
    elif outcome in ("refused", "switched_off"):
        state = "limit" if outcome == "refused" else "off"
        stopped[miss.bucket] = Stop(state, _attempt_id(miss), why, miss.limit_value)
    if session.run_watch is not None:
        session.contained(session.run_watch.note_miss, miss.code, outcome)


def _judge(miss: Miss, result: Any, error: BaseException | None) -> tuple[MissOutcome, Any, str]:
    """The outcome, the guarded code where there is one, and why there is none."""
    if error is not None:
        return "raised", None, ""
    if miss.limit:
        return "refused", None, miss.limit
    guarded = _guarded_code(result)
    if guarded is not None:
        return ("recompiled" if miss.entries else "compiled"), guarded, ""
    why = _why(miss, result)
    if _by_rule(miss, result):
        return "skipped", None, why
    return "switched_off", None, why


def _guarded_code(result: Any) -> Any:
    """The new entry in a callback's result: torch 2.13 wraps it, 2.6 returns it bare."""
    if result is None:
        return None
    if hasattr(result, "guarded_code"):
        return result.guarded_code
    return result if hasattr(result, "guard_manager") or hasattr(result, "check_fn") else None


def _by_rule(miss: Miss, result: Any) -> bool:
    """Whether the frame was passed over without an attempt, or only this once.

    A region's own first frame that is passed over for good is switched off all the
    same: nothing of the region will ever be captured.
    """
    if not getattr(result, "apply_to_code", True):
        return True
    if miss.metrics is None:
        failed = not miss.code.fact.library and "error" in str(getattr(result, "skip_reason", ""))
        return not (miss.is_root or failed) or _is_skipfile(miss.code)
    return _had_nothing_to_compile(miss)


def _had_nothing_to_compile(miss: Miss) -> bool:
    """An inner frame or resume function without operations, that never had an entry."""
    inner = not miss.is_root and not miss.entries
    return inner and not getattr(miss.metrics, "fail_reason", None)


def _is_skipfile(state: CodeState) -> bool:
    """Whether torch's own rules say never to trace this code object."""
    from torch._dynamo import trace_rules

    code = state.code()
    return code is not None and bool(trace_rules.check(code))


def _why(miss: Miss, result: Any) -> str:
    """The compiler's reason for leaving the frame, else the callback's."""
    failed = getattr(miss.metrics, "fail_reason", None)
    if failed and _was_suppressed(miss.metrics):
        return f"suppress_errors hid {miss.metrics.fail_type}: {failed}"[:4000]
    if failed:
        return str(failed)[:4000]
    said = getattr(result, "skip_reason", None)
    if said or miss.metrics is None:
        return str(said or "")
    return "the frame has no tensor operation to compile"


def _was_suppressed(metrics: Any) -> bool:
    """Whether a compile raised what only ``suppress_errors`` turns into an eager run."""
    from torch._dynamo import config

    kind = str(getattr(metrics, "fail_type", None) or "")
    soft = kind.rpartition(".")[2] in _SOFT
    return bool(kind) and not soft and bool(getattr(config, "suppress_errors", False))


def _us_to_ns(metrics: Any, name: str) -> int | None:
    value = getattr(metrics, name, None)
    return None if value is None else int(value * 1_000)


def _phases(metrics: Any) -> Phases:
    """Phase durations from the runtime's own record, whose unit is microseconds."""
    return Phases(
        total=_us_to_ns(metrics, "duration_us"),
        dynamo=_us_to_ns(metrics, "dynamo_cumulative_compile_time_us"),
        aot=_us_to_ns(metrics, "aot_autograd_cumulative_compile_time_us"),
        inductor=_us_to_ns(metrics, "inductor_cumulative_compile_time_us"),
        code_generation=_us_to_ns(metrics, "inductor_code_gen_cumulative_compile_time_us"),
    )


def _caches(metrics: Any) -> dict[str, str]:
    found = {}
    for name, field in (
        ("fx graph", "inductor_fx_local_cache"),
        ("aot", "aotautograd_local_cache"),
    ):
        for state in ("hit", "miss"):
            if getattr(metrics, f"{field}_{state}_count", None):
                found[name] = state
    return found


def _breaks(miss: Miss) -> tuple[GraphBreak, ...]:
    """The breaks that split the frame, or the one that made Dynamo leave it."""
    metrics = miss.metrics
    failed = getattr(metrics, "fail_reason", None)
    if miss.limit or not failed:
        return tuple(miss.breaks)
    file = getattr(metrics, "fail_user_frame_filename", None)
    line = getattr(metrics, "fail_user_frame_lineno", None) or 0
    stack = [Place(str(file), line)] if file else []
    text = str(failed)
    met = miss.met if miss.met and text.startswith(miss.met.said) else None
    return (*miss.breaks, as_break(text, stack, miss.caller, met, "frame"))


def _attempt_id(miss: Miss) -> str:
    return miss.compile_id or str(getattr(miss.metrics, "compile_id", None) or "")


def _fact(
    session: Session, miss: Miss, outcome: MissOutcome, why: str, raised: Raised | None
) -> Compile:
    metrics = miss.metrics
    return Compile(
        code_object=miss.code.fact.id,
        outcome=outcome,
        compile_id=_attempt_id(miss),
        region=None if miss.region is None else miss.region.fact.id,
        call=miss.call if session.calls is None else session.calls.index_now(),
        entries_before=miss.entries,
        reasons=tuple(miss.reasons),
        answers=miss.answers,
        limit=miss.limit,
        limit_value=miss.limit_value,
        why=why,
        suppressed=outcome != "raised" and _was_suppressed(metrics),
        raised=raised,
        breaks=_breaks(miss),
        symbols=tuple(miss.symbols),
        made_dynamic=tuple(dict.fromkeys(miss.automatic)),
        graph_ops=getattr(metrics, "graph_op_count", None),
        guards=getattr(metrics, "guard_count", None),
        started_ns=miss.started,
        wall_ns=time.perf_counter_ns() - miss.began,
        cpu_ns=cpu_ns() - miss.cpu,
        phases=_phases(metrics),
        caches=_caches(metrics),
        restarts=tuple(
            sorted(str(r)[:300] for r in getattr(metrics, "restart_reasons", None) or ())
        ),
        thread=session.thread_number(),
        caller=miss.caller,
    )
