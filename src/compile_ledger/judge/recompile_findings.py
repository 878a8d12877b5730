"""Findings of level STABLE that name the cause of recompiles."""

from __future__ import annotations

from dataclasses import dataclass

from compile_ledger.facts.compile import Compile
from compile_ledger.facts.place import Place

from .causes import Cause, leading
from .classify_guard import KINDS
from .document import Evidence, Finding, FindingCost
from .guarded import guarded_at
from .instruments import instrument
from .prices import compile_seconds
from .reasons import entry_count, on_same_code, quoted
from .recurrence import Anew, Recurring
from .sizes import values_brought
from .slugs import recompile_slug
from .view import View
from .words import count, listed


def via_frame(view: View, region: int | None, code_object: int) -> str:
    """Say so when the frame that Dynamo caches on is not the user's own."""
    code = view.code.get(code_object)
    known = view.regions.get(region) if region is not None else None
    if code is None or known is None or known.site is None:
        return ""
    if not code.library and code.file == known.site.file:
        return ""
    frame = f"frame {code.name}, {within_package(code.place)}"
    return f" ({frame}, entered by torch.compile at {known.site})"


def within_package(place: Place) -> str:
    """``transformers/utils/generic.py:1112``: a library's file without where it is installed."""
    for folder in ("site-packages/", "dist-packages/"):
        _, found, rest = place.file.replace("\\", "/").rpartition(folder)
        if found:
            return f"{rest}:{place.line}"
    return str(place)


@dataclass(frozen=True, slots=True)
class Story:
    """Recompiles of one cause, and how they end."""

    cause: Cause
    events: tuple[Compile, ...]
    """Every compile on the code object."""
    ends: str
    """In words: a limit that was hit, or compiling that goes on."""
    unseen: int
    """Silent calls, whose values no reason names."""
    calls: int
    """Calls of the stream."""


def recompiles(view: View, story: Story) -> Finding:
    """The cause of recompiles; its slug says on which kind of guard."""
    found, events, unseen = story.cause, story.events, story.unseen
    first, last = found.first, events[-1]
    region = view.region_of(last)
    slug = recompile_slug(found.key.kind)
    entries = sum(event.kept for event in events if event.code_object == last.code_object)
    brought = values_brought(view, found, region, unseen)
    seen = f"{brought} in {count(story.calls, 'call')}, {entry_count(entries)}"
    sentence = f"{_head(found)}: {seen}; {story.ends}{via_frame(view, region, last.code_object)}"
    return Finding(
        id=f"{slug}:{last.code_object}",
        slug=slug,
        level="STABLE",
        severity="failure",
        sentence=sentence,
        site=view.site(region, last.code_object),
        guarded=guarded_at(view, found.failures),
        subject=found.key.subject,
        axis=found.key.axis,
        expected=first.expected,
        actual=first.actual,
        count=found.compiles,
        cost=FindingCost(seconds=compile_seconds(view, events), calls=unseen or None),
        evidence=(*_blamed(view, found), *quoted(view, events), *_predicted(found)),
        region=region,
        code_object=last.code_object,
    )


def _head(found: Cause) -> str:
    key = found.key
    if key.kind == "size":
        axis = f" on axis {key.axis}" if key.axis is not None else ""
        return f"{key.subject} changes size{axis}"
    if key.kind == "other":
        return f"recompiles on {key.text}: {found.first.text}"
    changed = f", expected {found.first.expected}" if found.first.expected else ""
    brought = f", got {found.first.actual}" if found.first.actual else ""
    return f"recompiles on {KINDS[key.kind].title}: {key.subject or '?'}{changed}{brought}"


def _blamed(view: View, found: Cause) -> tuple[Evidence, ...]:
    """The values and the line of source that the guard names."""
    lines = listed(sorted({str(f.user_line) for f in found.failures if f.user_line}), 3)
    text = f"{found.key.text}: {listed(found.values, 16)}" + (f" at {lines}" if lines else "")
    tool = instrument("recompile reasons", view.arm)
    return (Evidence(tool, text, count=found.compiles, arm=view.arm.name),)


def _predicted(found: Cause) -> tuple[Evidence, ...]:
    """What could remove such a recompile: a prediction, until an arm has shown it."""
    change = KINDS[found.key.kind].experiment
    return (Evidence("prediction, not measured", change),) if change else ()


def unnamed_recompiles(view: View, found: Recurring, calls: int) -> Finding:
    """Recompiles in the tail for which the runtime gave no reason."""
    last = found.compiles[-1]
    region = view.region_of(last)
    number = count(len(found.compiles), "recompile")
    return Finding(
        id=f"recompile-unnamed:{last.code_object}",
        slug="recompile-unnamed",
        level="STABLE",
        severity="failure",
        sentence=f"{number} in {count(calls, 'call')}, still in the tail; no reason was given",
        site=view.site(region, last.code_object),
        count=len(found.compiles),
        cost=FindingCost(seconds=compile_seconds(view, found.compiles)),
        region=region,
        code_object=last.code_object,
    )


def fresh_code(view: View, found: Anew) -> Finding:
    """A code object made anew at each call: compiled anew, with no guard and no limit."""
    last = found.compiles[-1]
    region = view.region_of(last)
    number = len(found.compiles)
    return Finding(
        id=f"fresh-code:{found.place}",
        slug="fresh-code",
        level="STABLE",
        severity="failure",
        sentence=(
            f"{found.place.function or 'a function'} is made anew and compiled each time: "
            f"{count(number, 'compile')} of one source line in {count(found.calls, 'call')}, "
            f"no guard failed and no limit applies"
        ),
        site=view.site(region) or found.place,
        subject=found.place.function,
        count=number,
        cost=FindingCost(seconds=compile_seconds(view, found.compiles)),
        evidence=(
            Evidence(
                instrument("compiles", view.arm), f"{number} new code objects at {found.place}"
            ),
        ),
        region=region,
        code_object=last.code_object,
    )


def cause_of(view: View, hit: Compile) -> Cause | None:
    """The leading cause of all compiles on the code object of one of them."""
    return leading(on_same_code(view, hit))
