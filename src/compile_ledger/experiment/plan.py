"""The arms of an audit: what each is told, and in which order they run."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

from compile_ledger.facts.arm import Arm

from .enough import LONG, Prefix
from .interventions import Intervention
from .launch import ArmFolder
from .spec import ArmSpec, Removal
from .targets import Target

SHARES_CACHES = {"warm": "cold", "steady": "cold", "ablation": "correct"}
"""Arms that find the caches that another arm left."""


@dataclass(frozen=True)
class Terms:
    """What the user asked of an audit."""

    target: Target
    folder: Path
    compare: int = 8
    max_calls: int | None = None
    whole: bool = False
    """Run the program to its own end, however long that takes."""
    long: float = LONG
    """Seconds after a program's first region call in which it is never ended."""
    seen: int | None = None
    """Outermost calls after which the eager arm was ended; None: it ran whole."""
    timeout: float = 900.0
    """Seconds that one arm may take."""
    threads: int = 1
    seed: int = 0
    rtol: float | None = None
    atol: float | None = None
    env: dict[str, str] = field(default_factory=dict)

    def arm_folder(self, name: str) -> ArmFolder:
        """The folder of an arm; experiment names have a colon, folders do not."""
        return ArmFolder(self.folder / "arms" / name.replace(":", "-"))

    def caches(self, name: str) -> Path:
        """The caches of an arm: its own, unless it is one that shares another's."""
        shared = SHARES_CACHES.get(name, name.replace(":", "-"))
        return self.folder / "caches" / shared

    def prefix(self, *, settle: bool = False) -> Prefix | None:
        """The calls that an arm after the eager one is to see; None: the whole program."""
        if self.seen is None or self.max_calls is not None or self.whole:
            return None
        return Prefix(self.seen, settle=settle, long=self.long)

    def base(self, name: str) -> ArmSpec:
        """A spec with everything that all arms share."""
        return ArmSpec(
            name=name,
            target=self.target,
            recording=str(self.arm_folder(name).recording),
            kept=str(self.folder / "kept"),
            compare=self.compare,
            rtol=self.rtol,
            atol=self.atol,
            max_calls=self.max_calls,
            prefix=self.prefix(),
            suffices=self.seen,
            threads=self.threads,
            seed=self.seed,
            env=dict(self.env),
        )


def eager(terms: Terms) -> ArmSpec:
    """The program as ordinary Python; keeps its outputs.

    Like the other eager arms, it does not import a code generator that it never uses.
    """
    base = terms.base("eager")
    decides = None if terms.whole or terms.max_calls is not None else Prefix(long=terms.long)
    kept = replace(base, eager=True, role="keep", cheap_backend=True, own_calls=True)
    return replace(kept, prefix=decides, suffices=1)


def eager_again(terms: Terms) -> ArmSpec:
    """The same again: what differs is nondeterminism, not the compiler."""
    return replace(terms.base("eager_again"), eager=True, role="repeat", cheap_backend=True)


def drift(terms: Terms) -> ArmSpec:
    """Eager, started a few roundings off: how far rounding alone leads a training program."""
    return replace(terms.base("drift"), eager=True, role="drift", cheap_backend=True)


def plain(terms: Terms) -> ArmSpec:
    """The true eager arm: ``torch.compile`` returns what it is given."""
    return replace(terms.base("plain"), eager=True, plain=True)


def capture(terms: Terms, *, ask_toolchain: bool = False) -> ArmSpec:
    """Dynamo only: the captured graphs run as they are."""
    base = terms.base("capture")
    return replace(
        base,
        cheap_backend=True,
        role="compare",
        operators=True,
        ask_toolchain=ask_toolchain,
        prefix=terms.prefix(settle=True),
    )


def reference(terms: Terms) -> ArmSpec:
    """Eager, each compared call first on an fp64 copy."""
    return replace(terms.base("reference"), eager=True, role="reference", cheap_backend=True)


def calls_to_compare(eager: Arm, most: int) -> int:
    """How many calls of the stream it takes to see the first ``most`` of each region."""
    seen: dict[int, int] = {}
    last = 0
    for number, call in enumerate(eager.calls, start=1):
        seen[call.region] = seen.get(call.region, 0) + 1
        if seen[call.region] <= most:
            last = number
    return max(last, 1)


def correct(terms: Terms, calls: int, *, align_random: bool) -> ArmSpec:
    """The workload's own backend, as far as the compared calls go."""
    base = terms.base("correct")
    most = calls if terms.max_calls is None else min(calls, terms.max_calls)
    return replace(base, role="compare", fallback_random=align_random, max_calls=most)


def cold(terms: Terms, *, compare: bool) -> ArmSpec:
    """The workload's own backend with empty caches, to the end of the stream."""
    return replace(
        terms.base("cold"),
        role="compare" if compare else "none",
        prewarm=True,
        prefix=terms.prefix(settle=True),
    )


def warm(terms: Terms) -> ArmSpec:
    """A fresh process that finds the cold arm's caches."""
    return replace(terms.base("warm"), prewarm=True)


def steady(terms: Terms) -> ArmSpec:
    """Eager and compiled calls interleaved, after the stream has run once."""
    return replace(terms.base("steady"), steady=True, prewarm=True)


def ablation(terms: Terms, chosen: Intervention, regions: Iterable[int]) -> ArmSpec:
    """Calls as they are interleaved with calls without what ``chosen`` removes."""
    removal = Removal(chosen.name, chosen.change, dict(chosen.settings), tuple(sorted(regions)))
    return replace(terms.base("ablation"), ablate=removal, prewarm=True)


def opinions(terms: Terms, regions: Iterable[int]) -> ArmSpec:
    """The capture arm's program, and then what torch's own instruments say of the regions."""
    return replace(terms.base("opinions"), cheap_backend=True, opinions=tuple(sorted(regions)))


def rung(terms: Terms, backend: str) -> ArmSpec:
    """The workload with the stages of compiling up to one of them."""
    overrides = {"backend": backend, "mode": None, "options": None}
    return replace(terms.base(f"ladder:{backend}"), overrides=overrides)


def intervention(terms: Terms, chosen: Intervention, *, own_backend: bool = False) -> ArmSpec:
    """The capture arm with one change; with ``own_backend`` the workload's own compiled arm."""
    base = terms.base(f"experiment:{chosen.name}")
    return replace(
        base,
        cheap_backend=not own_backend,
        operators=not own_backend,
        overrides=dict(chosen.overrides),
        settings=dict(chosen.settings),
        env={**base.env, **chosen.env},
        change=chosen.change,
        in_place=chosen.in_place,
    )


def comparing(terms: Terms, chosen: Intervention, *, own_backend: bool) -> ArmSpec:
    """Such an arm, whose outputs are compared with eager's."""
    return replace(intervention(terms, chosen, own_backend=own_backend), role="compare")
