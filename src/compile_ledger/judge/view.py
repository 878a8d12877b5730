"""An arm's facts, indexed: calls by region, compiles by code object, sites."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from compile_ledger.facts.arm import Arm
from compile_ledger.facts.calls import Call
from compile_ledger.facts.compile import Compile
from compile_ledger.facts.place import Place
from compile_ledger.facts.region import CodeObject, Region

from .inferred_roots import with_roots


@dataclass(frozen=True, slots=True)
class View:
    """One arm, indexed. Ids that no fact explains are simply absent."""

    arm: Arm
    regions: dict[int, Region]
    code: dict[int, CodeObject]
    calls: dict[int, tuple[Call, ...]]
    """Region to its calls, by index."""
    compiles: tuple[Compile, ...]
    """In the order in which they began."""
    roots: dict[int, tuple[int, ...]]
    """Code object to the regions that enter it first."""
    inherited: tuple[Compile, ...] = ()
    """What made the entries that were there when the recording began."""

    def region_of(self, event: Compile) -> int | None:
        """The region during whose call a compile happened; else the one it is root of."""
        if event.region is not None:
            return event.region
        found = self.roots.get(event.code_object, ())
        return found[0] if found else None

    def compiles_of(self, region: int) -> tuple[Compile, ...]:
        """The compiles of one region."""
        return tuple(c for c in self.compiles if self.region_of(c) == region)

    def regions_on(self, code_object: int) -> tuple[int, ...]:
        """Every region that enters or compiled this code object, by id."""
        found = {c.region for c in self.compiles if c.code_object == code_object}
        found.update(self.roots.get(code_object, ()))
        return tuple(sorted(r for r in found if r is not None))

    def site(self, region: int | None, code_object: int | None = None) -> Place | None:
        """The user's ``torch.compile`` line; else where the code object is defined."""
        found = self.regions.get(region) if region is not None else None
        if found and found.site:
            return found.site
        code = self.code.get(code_object) if code_object is not None else None
        return code.place if code else (found.target_place if found else None)

    def target(self, region: int | None) -> str:
        """What the user compiled, by name."""
        found = self.regions.get(region) if region is not None else None
        return found.target if found else "the region"

    def length(self, region: int) -> int:
        """How many calls the region had: kept apart, or counted, or at least.

        A process that was killed before its first reading has only its compiles' numbers.
        """
        counters = self.arm.counters
        counted = [r.calls for r in counters.regions if r.region == region] if counters else []
        seen = [c.call + 1 for c in self.compiles if c.region == region and c.call is not None]
        return max([len(self.calls.get(region, ())), *counted, *seen])

    @property
    def called(self) -> tuple[int, ...]:
        """Every region that was called; those that no fact describes come last."""
        known = [region for region in self.regions if self.length(region)]
        return (*known, *(region for region in self.calls if region not in self.regions))

    @property
    def uncounted(self) -> bool:
        """True when entries exist whose runs nobody counts: totals do not add up then."""
        return any(code.uncounted for code in self.code.values())

    def is_foreign(self, code_object: int) -> bool:
        """True for library code that no region was asked to compile."""
        code = self.code.get(code_object)
        return bool(code and code.library and code_object not in self.roots)

    def had_entries(self, event: Compile) -> bool:
        """True when the code object had held an entry before this event."""
        if event.entries_before > 0:
            return True
        same = (c for c in self.compiles if c.code_object == event.code_object)
        return any(c.kept for c in same if c is not event and _before(c, event))


def runs_of(call: Call, code_object: int, compile_id: str) -> int:
    """How often one entry ran in a call; keys are compile ids, with or without code object."""
    exact = call.runs.get(f"{code_object}:{compile_id}")
    return call.runs.get(compile_id, 0) if exact is None else exact


def look(arm: Arm) -> View:
    """Index an arm."""
    own = (c for c in arm.compiles if not c.inherited)
    regions = with_roots(arm)
    return View(
        arm=arm,
        regions={region.id: region for region in regions},
        code={code.id: code for code in arm.code_objects},
        calls=_by_region(arm.calls),
        compiles=tuple(sorted(own, key=lambda c: c.started_ns)),
        roots=_roots(regions),
        inherited=tuple(c for c in arm.compiles if c.inherited),
    )


def _by_region(calls: Iterable[Call]) -> dict[int, tuple[Call, ...]]:
    found: defaultdict[int, list[Call]] = defaultdict(list)
    for call in calls:
        found[call.region].append(call)
    return {region: tuple(sorted(of, key=lambda c: c.index)) for region, of in found.items()}


def _roots(regions: Iterable[Region]) -> dict[int, tuple[int, ...]]:
    found: defaultdict[int, list[int]] = defaultdict(list)
    for region in regions:
        if region.root is not None:
            found[region.root].append(region.id)
    return {code: tuple(ids) for code, ids in found.items()}


def _before(one: Compile, other: Compile) -> bool:
    if one.started_ns != other.started_ns:
        return one.started_ns < other.started_ns
    if one.region == other.region and one.call is not None and other.call is not None:
        return one.call < other.call
    return False
