"""The ledger of an audit that Ctrl-C ended: what is not measured says so."""

from __future__ import annotations

import dataclasses

from compile_ledger.judge.document import Ledger
from compile_ledger.judge.verdict import verdict_of

_SAID = "interrupted: "


def as_interrupted(ledger: Ledger) -> Ledger:
    """Say of every level that a further arm could have measured that the audit ended before it."""
    could = {row.what for row in ledger.not_measured if row.command}
    levels = tuple(
        dataclasses.replace(one, why=_SAID + one.why) if one.level in could else one
        for one in ledger.levels
    )
    rows = tuple(
        dataclasses.replace(row, why=_SAID + row.why) if row.what in could else row
        for row in ledger.not_measured
    )
    unproven = ledger.unproven
    if unproven is not None:
        unproven = dataclasses.replace(unproven, why=_SAID + unproven.why)
    return dataclasses.replace(
        ledger,
        levels=levels,
        not_measured=rows,
        unproven=unproven,
        verdict=verdict_of(ledger.diagnosis, levels, ledger.experiments),
    )
