"""The cache line of one region, out of a ledger that holds those of all."""

from __future__ import annotations

from collections.abc import Sequence

from compile_ledger.facts.cache_line import CacheLine, LineReading

from .document import Ledger
from .words import listed


class NoLineError(ValueError):
    """A ledger does not hold the line that was asked for; the message says what it holds."""


def saved_line(ledger: Ledger, region: str | int | None = None) -> CacheLine:
    """The lines of one region, its root first. Raises :class:`NoLineError`.

    ``region``: the name of what was compiled, the name of a code object, or a number;
    None where there is only one to choose.
    """
    if not ledger.cache_lines:
        msg = f"the ledger of {ledger.target} holds no cache line: audit or record it again"
        raise NoLineError(msg)
    first = _only(_matching(ledger.cache_lines, region), ledger, region)
    inside = (one for one in ledger.cache_lines if set(one.regions) & set(first.regions))
    rest = [one.line for one in inside if one is not first and one.line.role != "root"]
    return CacheLine(first.target, (first.line, *rest), first.torch)


def _matching(lines: Sequence[LineReading], region: str | int | None) -> list[LineReading]:
    roots = [one for one in lines if one.line.role == "root"]
    if region is None:
        return roots
    if isinstance(region, int):
        return [one for one in roots if region in one.regions]
    named = [one for one in roots if region in (one.target, one.target.rpartition(".")[2])]
    return named or [one for one in lines if region == one.line.name]


def _only(found: Sequence[LineReading], ledger: Ledger, region: str | int | None) -> LineReading:
    if len(found) == 1:
        return found[0]
    names = listed((_name(one) for one in found or ledger.cache_lines), 8)
    if found:
        msg = f"several regions have a cache line there, choose one by its number: {names}"
    else:
        msg = f"no region {region!r} has a cache line in the ledger of {ledger.target}: {names}"
    raise NoLineError(msg)


def _name(one: LineReading) -> str:
    number = f" (region {one.regions[0]})" if one.regions else ""
    return f"{one.target or one.line.name}{number}"
