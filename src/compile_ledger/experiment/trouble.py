"""What the eager arm may show that ends an audit: one line each, with the remedy."""

from __future__ import annotations

from compile_ledger.facts.arm import Arm

from .launch import LEFT, AuditError
from .targets import Target


def check_eager(arm: Arm, target: Target) -> None:
    """Raise :class:`AuditError` when there is nothing to audit in what eager ran."""
    calls = len(arm.calls)
    if arm.status == "failed" and arm.why.startswith(LEFT):
        msg = f"{arm.why}: give {target.text} the arguments after -- that make it run one"
        raise AuditError(msg)
    if arm.status == "failed":
        msg = f"the eager arm failed before it could tell anything: {arm.why}"
        raise AuditError(msg)
    if arm.status in ("timed_out", "killed") and not calls:
        msg = f"the eager arm ended before any region ran ({arm.why}): raise --timeout"
        raise AuditError(msg)
    if calls:
        return
    if arm.raised is not None:
        _raise_for_exception(arm, target)
        return
    raise AuditError(_nothing_ran(arm, target))


def _raise_for_exception(arm: Arm, target: Target) -> None:
    """A missing package is the machine's trouble, any other exception the program's."""
    raised = arm.raised
    if raised is not None and raised.type == "ModuleNotFoundError":
        name, _, hidden = raised.message.rpartition("named ")[2].partition("; ")
        name = name.strip("'\"")
        if hidden:
            package = name.partition(".")[0]
            msg = f"{target.text} cannot import {name}: a file {package}.py hides the package"
            raise AuditError(msg)
        msg = f"{target.text} needs the package {name}, which is not installed here: install it"
        raise AuditError(msg)


def _nothing_ran(arm: Arm, target: Target) -> str:
    code = arm.exit_code or 0
    if not arm.regions:
        ended = f"ended with exit code {code} and " if code else ""
        return (
            f"{target.text} {ended}never called torch.compile: "
            "give a program that does, or file.py:name with a Workload"
        )
    if target.kind in ("name", "pickled"):
        return f"{target.text} makes no call of what it compiles: give it at least one"
    sites = ", ".join(str(region.site or region.target) for region in arm.regions[:3])
    early = f" before it ended with exit code {code}" if code else ""
    return (
        f"{target.text} called torch.compile ({sites}) but never ran a compiled region{early}: "
        "give it the arguments after -- that make it run one"
    )
