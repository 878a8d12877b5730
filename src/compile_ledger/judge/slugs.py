"""Every kind of finding, in one table. docs/findings.md has an anchor for each slug."""

from __future__ import annotations

from dataclasses import dataclass

from .classify_guard import KINDS
from .document import LevelName


@dataclass(frozen=True, slots=True)
class Slug:
    """A kind of finding: its name, the level it belongs to, and what it means."""

    name: str
    level: LevelName
    title: str
    ignorable: str = ""
    """Why a note of this kind can usually be ignored; empty: it should be read."""


_TABLE = (
    Slug("eager-raises", "RUNS", "An ordinary bug: eager raises too"),
    Slug("wrapper-visible", "RUNS", "It fails only with torch.compile, even when run eagerly"),
    Slug("compiled-raises", "RUNS", "Compiled code raises, eager does not"),
    Slug("exception-lost", "RUNS", "Eager raises, compiled does not"),
    Slug("toolchain-missing", "RUNS", "No working C++ compiler for inductor"),
    Slug("numerics", "CORRECT", "Compiled results are further from fp64 than eager's"),
    Slug("output-differs", "CORRECT", "Structure, type, dtype, shape or an exact value differs"),
    Slug("gradient-differs", "CORRECT", "A gradient differs from eager's"),
    Slug("side-effect-lost", "CORRECT", "A side effect of the eager program is missing or added"),
    Slug("nondeterministic", "CORRECT", "Eager does not agree with itself"),
    Slug("tolerance", "CORRECT", "The stated tolerance and the fp64 reference disagree"),
    Slug("graph-break", "CAPTURED", "More than one graph runs per steady call"),
    Slug("frame-skipped", "CAPTURED", "Dynamo skipped a frame: it runs eagerly"),
    Slug("no-graph", "CAPTURED", "No graph ran in any call"),
    Slug("region-bypassed", "CAPTURED", "Calls go round the compiled region"),
    Slug("eager-operators", "CAPTURED", "Operators ran outside graphs in steady calls"),
    Slug("recompile-unnamed", "STABLE", "Recompiles for which the runtime gives no reason"),
    Slug("fresh-code", "STABLE", "A new code object is compiled at each call"),
    Slug("line-cleared", "STABLE", "Entries are gone each time, and are compiled again"),
    Slug("cache-limit", "STABLE", "The recompile limit was hit"),
    Slug("limit-without-effect", "STABLE", "The limit was raised where it has no effect"),
    Slug("limit-ahead", "STABLE", "A recompile limit will be hit if compiling goes on"),
    Slug("silent-eager", "STABLE", "Calls ran eagerly, unannounced"),
    Slug("stance-refused", "STABLE", "A call was refused by the program's own fail_on_recompile"),
    Slug("stance-eager", "STABLE", "Calls ran eagerly by the program's own eager_on_recompile"),
    Slug("forced-eager", "CAPTURED", "Calls ran eagerly by the program's own force_eager"),
    Slug("switched-off", "STABLE", "A code object was switched off for good"),
    Slug("shared-line", "STABLE", "Unrelated regions share one cache line"),
    Slug("shadowed-entry", "STABLE", "A better graph is never reached again"),
    Slug("compile-in-loop", "STABLE", "One line calls torch.compile again and again"),
    Slug("settled", "STABLE", "Recompiled, then settled", "it settled; its cost is shown"),
    Slug("recompiled", "STABLE", "Recompiled; too late to tell whether it goes on"),
    Slug("not-worth-it", "WORTH_IT", "The compiled workload does not repay its cost"),
    Slug("observer-effect", "CAPTURED", "Diagnostics inside the region change what is captured"),
    Slug("lost-evidence", "RUNS", "Evidence was lost", "it concerns the recorder, not the program"),
)


def recompile_slug(kind: str) -> str:
    """The slug of recompiles on one kind of guard: ``recompile-shape`` for sizes."""
    return f"recompile-{'shape' if kind == 'size' else kind}"


_RECOMPILES = tuple(
    Slug(recompile_slug(kind.name), "STABLE", f"Recompiles on {kind.title}")
    for kind in KINDS.values()
)

SLUGS: dict[str, Slug] = {slug.name: slug for slug in (*_TABLE, *_RECOMPILES)}
