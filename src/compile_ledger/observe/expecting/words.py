"""What ``expect`` found, in words: the slug of the finding first, then guard, values, line."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from compile_ledger.facts.arm import Lost
from compile_ledger.facts.graph_break import GraphBreak
from compile_ledger.facts.guard import Refusal
from compile_ledger.observe.cache_line.reach import region_codes
from compile_ledger.observe.cache_line.state import root_state
from compile_ledger.observe.cache_line.target import resolve
from compile_ledger.observe.recording.session import Session

from .calls import Region
from .watch import Seen

_MOST = 5
_LOCAL = re.compile(r"\bL\[\s*(['\"])(.*?)\1\s*\]")


def compiles(found: Sequence[Seen], allowed: int, session: Session) -> str:
    """Compiles in the steady state, each with what made it necessary."""
    number = f"{len(found)} compile{'s' * (len(found) != 1)}"
    rows = [f"- recompile: {number} in the steady state, at most {allowed} allowed"]
    for seen in found[:_MOST]:
        rows.append(f"  {_who(seen, session)} {seen.fact.outcome}")
        rows.extend(_reasons(seen))
    if len(found) > _MOST:
        rows.append(f"  and {len(found) - _MOST} more")
    return "\n".join(rows)


def refused(seen: Seen, session: Session) -> str:
    """A compile that a limit refused, or after which the code object is skipped."""
    if seen.fact.outcome == "refused":
        limit = f"{seen.fact.limit} ({seen.fact.limit_value})"
        head = f"- cache-limit: {_who(seen, session)} hit {limit}; it ran eagerly"
    else:
        why = seen.fact.why.partition("\n")[0]
        head = f"- switched-off: {_who(seen, session)} is skipped from now on: {why}"
    return "\n".join((head, *_reasons(seen)))


def silent(number: int) -> str:
    """Lookups that no entry took and that started nothing."""
    calls = f"{number} time{'s' * (number != 1)}"
    return f"- silent-eager: a frame ran eagerly {calls}: no entry took it, and none was made"


def unserved(region: Region) -> str:
    """Calls in which the compiler was not even asked."""
    calls = region.unserved
    head = f"- silent-eager: {len(calls)} of {region.calls} calls ran without compiled code"
    return f"{head}: {_state(region.target)}"


def _state(thing: Any) -> str:
    from compile_ledger.observe.cache_line.attempts import attempts, frame_of
    from compile_ledger.observe.cache_line.lookup import compile_id, raw_entries

    try:
        target = resolve(thing)
    except TypeError:
        return "what the region runs is not known"
    known = attempts()
    frame = frame_of(target.code, map(compile_id, raw_entries(target.code)), known)
    state = root_state(target, frame, known)
    where = f"{target.name} ({target.code.co_filename}:{target.code.co_firstlineno})"
    if state.state == "off":
        return f"{where} is switched off since compile {state.since or 'the start'}: {state.why}"
    return f"{where} was called under a stance or a switch that keeps it eager"


def graph_break(found: GraphBreak) -> str:
    """A break that was seen while a frame was compiled."""
    where = f" at {found.place}" if found.place else ""
    return f"- graph-break: {found.reason}{where}"


def split(region: Region) -> str:
    """Calls that ran as more than one frame."""
    _number, frames = region.split[0]
    head = f"- graph-break: {len(region.split)} calls ran as {frames} frames instead of one"
    try:
        codes = region_codes(resolve(region.target))[1:]
    except TypeError:
        return head
    inner = [f"{c.co_name} ({c.co_filename}:{c.co_firstlineno})" for c, _role in codes]
    return "\n".join((head, *(f"  {one}" for one in inner[:_MOST])))


def lost(found: Sequence[Lost]) -> str:
    """Evidence that could not be taken: then nothing is certified."""
    return f"- lost-evidence: {found[0].where}: {found[0].why}"


def _who(seen: Seen, session: Session) -> str:
    facts = (state.fact for state in session.codes.values())
    code = next((fact for fact in facts if fact.id == seen.fact.code_object), None)
    name = "a code object" if code is None else f"{code.name} ({code.file}:{code.line})"
    return name if seen.call is None else f"{name}, call {seen.call},"


def _reasons(seen: Seen) -> list[str]:
    """The nearest entry's refusals with both values; else the runtime's own texts."""
    answers = [answer for answer in seen.refusals if answer.refusals]
    if not answers:
        return [f"    {reason}" for reason in seen.fact.reasons[:_MOST]]
    nearest = min(answers, key=lambda answer: len(answer.refusals))
    rows = [f"    entry {nearest.compile_id} refuses it:"]
    for refusal in nearest.refusals[:_MOST]:
        rows.extend(_refusal(refusal))
    return rows


def _refusal(refusal: Refusal) -> list[str]:
    source = _plain(refusal.source)
    if refusal.aspect == "relation":
        said = f"{_plain(refusal.expected)} is false"
    else:
        said = f"{source} {refusal.aspect}: expected {refusal.expected}, actual {refusal.actual}"
    where = f"{refusal.place}  " if refusal.place else ""
    line = f"{where}{refusal.user_line}".rstrip()
    return [f"      {said.strip()}", *([f"      {line}"] if line else [])]


def _plain(source: str) -> str:
    return _LOCAL.sub(r"\2", source)
