"""The code objects that a region enters: its root, resume functions, frames called inside."""

from __future__ import annotations

from collections.abc import Iterator
from types import CodeType

from compile_ledger.facts.cache_line import Role

from .lookup import raw_entries
from .target import Target


def region_codes(target: Target) -> list[tuple[CodeType, Role]]:
    """Code objects of a region, the root first.

    Frames called inside are found by their name, because nothing else is kept of who
    called them; the parts of a module by their classes.
    """
    found: dict[int, tuple[CodeType, Role]] = {id(target.code): (target.code, "root")}
    waiting = [target.code]
    seen = list(seen_codes())
    while waiting:
        code = waiting.pop(0)
        for other, role in _next(code, target, seen):
            if id(other) not in found:
                found[id(other)] = (other, role)
                waiting.append(other)
    return list(found.values())


def seen_codes() -> Iterator[CodeType]:
    """Code objects that Dynamo looked at and that still exist."""
    from torch._dynamo import convert_frame

    for reference in list(getattr(getattr(convert_frame, "input_codes", None), "seen", ())):
        code = reference() if callable(reference) else reference
        if isinstance(code, CodeType):
            yield code


def _next(code: CodeType, target: Target, seen: list[CodeType]) -> Iterator[tuple[CodeType, Role]]:
    yield from ((resume, "resume") for resume in _resumes(code))
    names = set(code.co_names)
    parts = _forwards(target)
    for other in seen:
        called = other.co_name in names or id(other) in parts
        if called and raw_entries(other, target.isolate_id):
            yield other, "called"


def _resumes(code: CodeType) -> list[CodeType]:
    """Resume functions that Dynamo made of a code object, in the order of making."""
    from torch._dynamo import resume_execution

    cache = getattr(getattr(resume_execution, "ContinueExecutionCache", None), "cache", None)
    if cache is None or code not in cache:
        return []
    return [made for made in cache[code].values() if isinstance(made, CodeType)]


def _forwards(target: Target) -> set[int]:
    """The code objects of a module's parts, which it calls by their attribute names."""
    modules = () if target.module is None else target.module.modules()
    functions = {getattr(type(module), "forward", None) for module in modules}
    codes = (getattr(function, "__code__", None) for function in functions)
    return {id(code) for code in codes if code is not None}
