"""What the eager arm may show that ends an audit: one line each, with the remedy."""

from __future__ import annotations

from compile_ledger.facts.arm import Arm

from .arm_process import LEFT
from .launch import AuditError
from .targets import Target, only_defines, reads_arguments


def check_eager(arm: Arm, target: Target, last_words: str = "") -> None:
    """Raise :class:`AuditError` when there is nothing to audit in what eager ran.

    ``last_words`` is the end of what the program wrote to stderr.
    """
    calls = len(arm.calls)
    if arm.status == "failed":
        msg = f"the eager arm failed before it could tell anything: {arm.why}"
        raise AuditError(msg)
    if arm.status in ("timed_out", "killed") and not calls:
        msg = f"the eager arm ended before any region ran ({arm.why}): raise --timeout"
        raise AuditError(msg)
    if any(own.outside or own.others for own in arm.own_calls):
        return  # What was compiled ran, round its region: that is the diagnosis.
    if not calls and arm.why == LEFT:
        msg = f"{LEFT} before any region ran: {_make_it_run(target)}"
        raise AuditError(msg)
    if not calls and arm.raised is None:
        raise AuditError(_nothing_ran(arm, target, last_words))


def _make_it_run(target: Target) -> str:
    """What would make a program run a region, as far as its source tells."""
    if reads_arguments(target):
        return f"give {target.text} the arguments after -- with which it runs what it compiles"
    if only_defines(target):
        return (
            f"{target.text} only defines: call it under if __name__ == '__main__', "
            "or give file.py:name with a Workload"
        )
    return "give a program that does, or file.py:name with a Workload"


def _nothing_ran(arm: Arm, target: Target, last_words: str) -> str:
    code = arm.exit_code or 0
    if code and last_words:
        return f"{target.text} ended with exit code {code}: {last_words}: {_make_it_run(target)}"
    if not arm.regions:
        ended = f"ended with exit code {code} and " if code else ""
        return f"{target.text} {ended}never called torch.compile: {_make_it_run(target)}"
    if target.kind in ("name", "pickled"):
        return f"{target.text} makes no call of what it compiles: give it at least one"
    sites = ", ".join(str(region.site or region.target) for region in arm.regions[:3])
    early = f" before it ended with exit code {code}" if code else ""
    return (
        f"{target.text} called torch.compile ({sites}) but never ran a compiled region{early}: "
        f"{_make_it_run(target)}"
    )
