"""Findings of level STABLE that name the cause of recompiles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from compile_ledger.facts.compile import Compile
from compile_ledger.facts.place import within_package
from compile_ledger.judge.classify_guard import KINDS
from compile_ledger.judge.document import CauseRow, Evidence, Finding, FindingCost
from compile_ledger.judge.instruments import instrument
from compile_ledger.judge.prices import compile_seconds
from compile_ledger.judge.slugs import recompile_slug
from compile_ledger.judge.view import View
from compile_ledger.judge.words import count, listed

from .along import changed_along
from .at_call import call_number
from .causes import Cause, by_name, causes, leading
from .guarded import guarded_at
from .reasons import against_nearest, entry_count, on_same_code, quoted
from .recurrence import Anew, Recurring
from .values import some_values, values_brought

SHOWN = 3
"""Values that a sentence names."""
_NAMES = "guard on "
"""How a hint begins that names a variable and advises nothing."""


def via_frame(view: View, region: int | None, code_object: int) -> str:
    """Say so when the frame that Dynamo caches on is not the user's own."""
    code = view.code.get(code_object)
    known = view.regions.get(region) if region is not None else None
    if code is None or known is None or known.site is None:
        return ""
    if not code.library and code.file == known.site.file:
        return ""
    name = view.frame(code_object)
    frame = f"frame {name}" if name == code.name else f"in {name}"
    return f" ({frame}, {within_package(code.place)}, entered by torch.compile at {known.site})"


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
    some = some_values(view, found, region)
    head = f"{_head(found, some)}{changed_along(view, found, region)}{_across(view, story)}"
    others = besides(view, story)
    sentence = f"{head}: {seen}{others}; {story.ends}{via_frame(view, region, last.code_object)}"
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
        evidence=(
            *_blamed(view, found),
            *against_nearest(view, events),
            *quoted(view, events),
            *predicted(found),
        ),
        region=region,
        code_object=last.code_object,
        first_call=call_number(view, found.events[0]),
        causes=cause_rows(view, events, region),
    )


def besides(view: View, story: Story) -> str:
    """The other causes on the same code, each with its own count."""
    region = view.region_of(story.events[-1])
    other = [one for one in causes(story.events) if one.key != story.cause.key]
    if not other:
        return ""
    said = [f"{one.compiles} on {cause_words(view, one, region)}" for one in other]
    total = sum(one.compiles for one in other) + story.cause.compiles
    return f" ({story.cause.compiles} of {count(total, 'recompile')}; {listed(said)})"


def cause_words(view: View, found: Cause, region: int | None) -> str:
    """``a dtype (x: float32, float16)``: one cause with its first values."""
    if found.key.kind == "relation":
        return f"{KINDS[found.key.kind].title}: {found.first.detail}"
    values = listed(some_values(view, found, region), SHOWN)
    said = found.key.worded(by_name(found.first), values)
    return f"{said}{changed_along(view, found, region)}"


def cause_rows(view: View, events: Sequence[Compile], region: int | None) -> tuple[CauseRow, ...]:
    """Each cause of some compiles, as the ledger keeps it."""
    return tuple(
        CauseRow(
            slug=recompile_slug(one.key.kind),
            subject=one.key.subject,
            axis=one.key.axis,
            count=one.compiles,
            values=some_values(view, one, region)[:16],
            code_object=one.events[0].code_object,
        )
        for one in causes(events)
    )


def _head(found: Cause, some: Sequence[str]) -> str:
    """What the assumption was about, and the first values that it met."""
    key, name = found.key, by_name(found.first)
    values = f" ({listed(some, SHOWN)})" if some[1:] else "".join(f", expected {s}" for s in some)
    if key.kind == "size":
        axis = f" on axis {key.axis}" if key.axis is not None else ""
        return f"{name} changes size{axis}{values}"
    if key.kind == "other":
        return f"recompiles on {key.text}: {found.first.text}"
    if key.kind == "relation":
        return f"recompiles on {KINDS[key.kind].title}: {found.first.detail}"
    if found.first.expected == "another function":
        values = ""
    return f"recompiles on {KINDS[key.kind].title}: {name or '?'}{values}"


def _across(view: View, story: Story) -> str:
    """Say so where no region compiles twice: what differs, differs between regions."""
    code = story.events[-1].code_object
    regions = view.regions_on(code)
    kept = [view.region_of(event) for event in story.events if event.kept]
    if len(regions) < 2 or len(set(kept)) < len(kept):  # noqa: PLR2004  one alone
        return ""
    return f" from region to region ({len(regions)} regions enter this code)"


def _blamed(view: View, found: Cause) -> tuple[Evidence, ...]:
    """The values and the line of source that the guard names."""
    lines = listed(sorted({str(f.user_line) for f in found.failures if f.user_line}), 3)
    text = f"{found.key.text}: {listed(found.values, 16)}" + (f" at {lines}" if lines else "")
    tool = instrument("recompile reasons", view.arm)
    return (Evidence(tool, text, count=found.compiles, arm=view.arm.name),)


def predicted(found: Cause) -> tuple[Evidence, ...]:
    """What could remove such a recompile: a prediction, until an arm has shown it."""
    change = KINDS[found.key.kind].experiment
    advice = dict.fromkeys(f.hint for f in found.failures if " " in f.hint.removeprefix(_NAMES))
    told = tuple(Evidence("the runtime's own advice", text) for text in [*advice][:3])
    return (*told, Evidence("prediction, not measured", change)) if change else told


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
        first_call=call_number(view, found.compiles[0]),
    )


def compiled_anew(view: View, found: Anew) -> Finding:
    """Code that is compiled again and again from an empty line: no guard fails."""
    last = found.compiles[-1]
    region = view.region_of(last)
    number = len(found.compiles)
    slug = "line-cleared" if found.same_code else "fresh-code"
    what, how = (
        ("is compiled again from an empty cache line", "its entries are gone each time (a reset?)")
        if found.same_code
        else ("is made anew and compiled each time", "no guard failed and no limit applies")
    )
    seen = f"{number} new code objects" if not found.same_code else f"{number} first compiles"
    return Finding(
        id=f"{slug}:{found.place}",
        slug=slug,
        level="STABLE",
        severity="failure",
        sentence=(
            f"{found.place.function or 'a function'} {what}: "
            f"{count(number, 'compile')} of one source line in {count(found.calls, 'call')}, {how}"
        ),
        site=view.site(region) or found.place,
        subject=found.place.function,
        count=number,
        cost=FindingCost(seconds=compile_seconds(view, found.compiles)),
        evidence=(Evidence(instrument("compiles", view.arm), f"{seen} at {found.place}"),),
        region=region,
        code_object=last.code_object,
        first_call=call_number(view, found.compiles[0]),
    )


def cause_of(view: View, hit: Compile) -> Cause | None:
    """The leading cause of all compiles on the code object of one of them."""
    return leading(on_same_code(view, hit))
