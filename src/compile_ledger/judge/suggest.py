"""Commands that would supply the evidence that is lacking."""

from __future__ import annotations

from compile_ledger.facts.contract import Contract

DEFAULT_PREFIX = "compile-ledger audit"


def audit_command(contract: Contract, *, full: bool = False) -> str:
    """The audit that would tell; ``full`` runs every arm."""
    flag = "--full " if full else ""
    return f"{DEFAULT_PREFIX} {flag}{contract.command or contract.target or 'TARGET'}"


def with_prefix(command: str, prefix: str) -> str:
    """The same command for a user who started us in another way."""
    if command.startswith(DEFAULT_PREFIX):
        return prefix + command.removeprefix(DEFAULT_PREFIX)
    return command
