"""What tests of arms share: single arms and whole audits of programs on disk."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from compile_ledger.experiment import plan
from compile_ledger.experiment.audit import Audit, Listener
from compile_ledger.experiment.launch import run_arm
from compile_ledger.experiment.plan import Terms
from compile_ledger.experiment.spec import ArmSpec
from compile_ledger.experiment.targets import Target, parse_target
from compile_ledger.facts.arm import Arm
from compile_ledger.facts.contract import Contract, Depth
from compile_ledger.judge.document import Finding, Ledger, Level

PROGRAMS = Path(__file__).parent / "programs"
ROOT = Path(__file__).parents[2]

Make = Callable[[Terms], ArmSpec]


def program(name: str, *argv: str) -> Target:
    """A target among ``programs``: ``streams.py``, ``bare.py:workload``."""
    return parse_target(str(PROGRAMS / name), argv)


def lines_of(name: str) -> dict[str, int]:
    """The line numbers of a program by the comment that ends each line."""
    text = (PROGRAMS / name).read_text(encoding="utf-8").splitlines()
    ends = (line.rpartition("  # ")[2] for line in text)
    return {end: number for number, end in enumerate(ends, start=1)}


def run(terms: Terms, spec: ArmSpec) -> Arm:
    """One arm, in its own process."""
    folder, caches = terms.arm_folder(spec.name), terms.caches(spec.name)
    return run_arm(spec, folder, caches, terms.timeout, lambda *_: None)


def arms(target: Target, folder: Path, *makes: Make) -> dict[str, Arm]:
    """The arms of one target, by name, in the order of ``makes``."""
    terms = Terms(target, folder)
    return {spec.name: run(terms, spec) for spec in (make(terms) for make in makes)}


def capture(target: Target, folder: Path) -> Arm:
    """The capture arm alone."""
    return arms(target, folder, plan.capture)["capture"]


def audited(
    target: Target, folder: Path, depth: Depth = "quick", listener: Listener | None = None
) -> Audit:
    """A whole audit; ``.ledger()`` gives its ledger."""
    contract = Contract(depth=depth, target=target.text, kind="program")
    audit = Audit(Terms(target, folder), contract, listener)
    audit.run()
    return audit


def level(ledger: Ledger, name: str) -> Level:
    """One level of a ledger."""
    return next(one for one in ledger.levels if one.level == name)


def finding(ledger: Ledger, slug: str) -> Finding:
    """The first finding of a kind."""
    return next(one for one in ledger.findings if one.slug == slug)


def dispositions(arm: Arm, target: str) -> list[str | None]:
    """What became of each call of the region that compiled ``target``."""
    region = next(r.id for r in arm.regions if r.target == target)
    return [call.disposition for call in arm.calls if call.region == region]
