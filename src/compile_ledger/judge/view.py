"""An arm's facts, indexed: calls by region, compiles by code object, sites."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from compile_ledger.facts.arm import Arm
from compile_ledger.facts.calls import Call
from compile_ledger.facts.compile import Compile
from compile_ledger.facts.place import Place
from compile_ledger.facts.region import CodeObject, Region

from .inferred_roots import with_roots
from .program_names import frame_name


@dataclass(frozen=True, eq=False)
class Group:
    """Regions that share code objects, and these code objects."""

    regions: tuple[int, ...]
    code: frozenset[int]


@dataclass(frozen=True, eq=False)
class View:
    """One arm, indexed. Ids that no fact explains are simply absent.

    What a judge asks of each region in turn is indexed once: recordings of services have
    thousands of regions.
    """

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
    worked_out: dict[Any, Any] = field(default_factory=dict)
    """What a judge keeps of this view, so that regions which share code are judged once."""

    def region_of(self, event: Compile) -> int | None:
        """The region during whose call a compile happened; else the one it is root of."""
        if event.region is not None:
            return event.region
        found = self.roots.get(event.code_object, ())
        return found[0] if found else None

    def compiles_of(self, region: int) -> tuple[Compile, ...]:
        """The compiles of one region."""
        return self._compiles_by_region.get(region, ())

    @cached_property
    def _compiles_by_region(self) -> dict[int, tuple[Compile, ...]]:
        found: defaultdict[int, list[Compile]] = defaultdict(list)
        for event in self.compiles:
            region = self.region_of(event)
            if region is not None:
                found[region].append(event)
        return {region: tuple(events) for region, events in found.items()}

    def regions_on(self, code_object: int) -> tuple[int, ...]:
        """Every region that enters or compiled this code object, by id."""
        return self._regions_by_code.get(code_object, ())

    @cached_property
    def _regions_by_code(self) -> dict[int, tuple[int, ...]]:
        found = {code: set(regions) for code, regions in self.roots.items()}
        for event in self.compiles:
            of = found.setdefault(event.code_object, set())
            if event.region is not None:
                of.add(event.region)
        return {code: tuple(sorted(regions)) for code, regions in found.items()}

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

    def frame(self, code_object: int, otherwise: str = "a frame") -> str:
        """A code object as the program names it; ``otherwise`` where no fact tells it."""
        code = self.code.get(code_object)
        if code is None:
            return otherwise
        targets = dict.fromkeys(self.target(region) for region in self.regions_on(code_object))
        return frame_name(code.name, code.file, tuple(targets))

    def length(self, region: int) -> int:
        """How many calls the region had: kept apart, or counted, or at least.

        A process that was killed before its first reading has only its compiles' numbers.
        """
        return self._lengths.get(region, 0)

    @cached_property
    def _lengths(self) -> dict[int, int]:
        found = {region: len(calls) for region, calls in self.calls.items()}
        counters = self.arm.counters
        counted = [(r.region, r.calls) for r in counters.regions] if counters else []
        seen = [(c.region, c.call + 1) for c in self.compiles if c.call is not None]
        for region, number in (*counted, *seen):
            if region is not None:
                found[region] = max(found.get(region, 0), number)
        return found

    @property
    def called(self) -> tuple[int, ...]:
        """Every region that was called; those that no fact describes come last."""
        known = [region for region in self.regions if self.length(region)]
        return (*known, *(region for region in self.calls if region not in self.regions))

    @cached_property
    def uncounted(self) -> bool:
        """True when entries exist whose runs nobody counts: totals do not add up then."""
        return any(code.uncounted for code in self.code.values())

    def events_on(self, code_object: int) -> tuple[Compile, ...]:
        """The compiles of one code object."""
        return self._events_by_code.get(code_object, ())

    @cached_property
    def _events_by_code(self) -> dict[int, tuple[Compile, ...]]:
        found: defaultdict[int, list[Compile]] = defaultdict(list)
        for event in self.compiles:
            found[event.code_object].append(event)
        return {code: tuple(events) for code, events in found.items()}

    @cached_property
    def entry_runs(self) -> dict[tuple[int, str], int]:
        """Code object and compile id to the runs of that entry, as counters have them."""
        entries = self.arm.counters.entries if self.arm.counters else ()
        return {(entry.code_object, entry.compile_id): entry.runs for entry in entries}

    @cached_property
    def code_runs(self) -> dict[int, int]:
        """Code object to the runs of all its entries, as counters have them."""
        found: Counter[int] = Counter()
        for (code, _), runs in self.entry_runs.items():
            found[code] += runs
        return found

    @cached_property
    def graph_runs(self) -> dict[int, int]:
        """Code object to the runs of its entries that hold a graph, as counters have them."""
        every = (*self.compiles, *self.inherited)
        bare = {(c.code_object, c.compile_id) for c in every if c.kept and not c.has_graph}
        found: Counter[int] = Counter()
        for (code, compile_id), runs in self.entry_runs.items():
            found[code] += 0 if (code, compile_id) in bare else runs
        return found

    @cached_property
    def limited(self) -> frozenset[int | None]:
        """Regions in whose calls a limit was hit."""
        return frozenset(self.region_of(c) for c in self.compiles if c.hit_limit)

    def group(self, region: int) -> Group:
        """The regions that share code objects with one, directly or not."""
        return self._groups.get(region) or Group((region,), frozenset())

    @cached_property
    def _groups(self) -> dict[int, Group]:
        entered = self._entered
        users: defaultdict[int, set[int]] = defaultdict(set)
        for region, codes in entered.items():
            for code in codes:
                users[code].update((region, *self.regions_on(code)))
        found: dict[int, Group] = {}
        for region in entered:
            if region not in found:
                group = _connected(region, entered, users)
                found.update(dict.fromkeys(group.regions, group))
        return found

    @cached_property
    def _entered(self) -> dict[int, set[int]]:
        """Region to the code objects that it enters first, or compiled."""
        found: defaultdict[int, set[int]] = defaultdict(set)
        for number, known in self.regions.items():
            found[number].update(() if known.root is None else (known.root,))
        made = ((self.region_of(c), c.code_object) for c in self.compiles)
        earlier = ((c.region, c.code_object) for c in self.inherited)
        for region, code in (*made, *earlier):
            if region is not None:
                found[region].add(code)
        return dict(found)

    def is_foreign(self, code_object: int) -> bool:
        """True for library code that no region was asked to compile."""
        code = self.code.get(code_object)
        return bool(code and code.library and code_object not in self.roots)

    def had_entries(self, event: Compile) -> bool:
        """True when the code object had held an entry before this event."""
        if event.entries_before > 0:
            return True
        same = self.events_on(event.code_object)
        return any(c.kept for c in same if c is not event and _before(c, event))


def _connected(start: int, entered: dict[int, set[int]], users: dict[int, set[int]]) -> Group:
    """Everything that is reached from one region by way of the code that regions share."""
    regions, codes, todo = {start}, set[int](), [start]
    while todo:
        for code in entered.get(todo.pop(), set()) - codes:
            codes.add(code)
            todo += users[code] - regions
            regions |= users[code]
    return Group(tuple(sorted(regions)), frozenset(codes))


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
