"""The finding ``shared-line``: unrelated regions whose entries fill one cache line."""

from __future__ import annotations

from compile_ledger.facts.compile import Compile
from compile_ledger.facts.place import within_package
from compile_ledger.judge.document import Evidence, Finding, FindingCost
from compile_ledger.judge.instruments import instrument
from compile_ledger.judge.view import View
from compile_ledger.judge.words import count, listed

from .at_call import at_call
from .causes import leading
from .reasons import quoted


def unrelated(view: View, code_object: int) -> bool:
    """True when several regions fill a line of torch's own code, each by its first call.

    They may have one class name: what was compiled differs all the same. Code of the
    user's that several regions share has guards that name what differs.
    """
    code = view.code.get(code_object)
    if code is not None and not code.library:
        return False
    kept = [c for c in view.compiles if c.code_object == code_object and c.kept]
    found = leading(kept)
    if len(view.regions_on(code_object)) < 2 or (found and found.key.kind == "backend"):  # noqa: PLR2004
        return False
    first = {view.region_of(c) for c in kept}
    return len(first) > len(kept) / 2


def shared_failure(view: View, hit: Compile, silent: int) -> Finding:
    """Unrelated regions filled the line up to its limit."""
    return _finding(view, hit.code_object, "failure", _reached(view, hit, silent), silent)


def shared_note(view: View, code_object: int) -> Finding:
    """Unrelated regions share a line, whose limit is not reached yet."""
    return _finding(view, code_object, "note", "no limit is reached yet", 0)


def _reached(view: View, hit: Compile, silent: int) -> str:
    value = f" ({hit.limit_value})" if hit.limit_value is not None else ""
    tail = f", then {count(silent, 'call')} ran eagerly, unannounced" if silent else ""
    return f"{hit.limit or 'the recompile limit'}{value} was reached{at_call(view, hit)}{tail}"


def _finding(view: View, code_object: int, severity: str, how: str, silent: int) -> Finding:
    regions = view.regions_on(code_object)
    code = view.code.get(code_object)
    name = view.frame(code_object)
    frame = f"{name} ({within_package(code.place)})" if code else "one code object"
    targets = sorted({view.target(region) for region in regions})
    entries = sum(c.kept for c in view.compiles if c.code_object == code_object)
    return Finding(
        id=f"shared-line:{code_object}",
        slug="shared-line",
        level="STABLE",
        severity="failure" if severity == "failure" else "note",
        sentence=(
            f"{count(len(regions), 'region')} ({listed(targets)}) share the cache line of {frame}: "
            f"{count(entries, 'entry', 'entries')}, {how}"
        ),
        site=view.site(regions[0] if regions else None, code_object),
        subject=code.name if code else "",
        count=len(regions),
        cost=FindingCost(calls=silent or None),
        evidence=(
            Evidence(instrument("regions and compiles", view.arm), listed(targets, 16)),
            *quoted(view, (c for c in view.compiles if c.code_object == code_object)),
        ),
        region=regions[0] if regions else None,
        code_object=code_object,
    )
