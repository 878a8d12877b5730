"""Every sample ledger by name."""

from __future__ import annotations

from collections.abc import Callable

from compile_ledger.judge.document import Ledger

from .sample_failures import breaks, eager_raises, interrupted, not_worth_it
from .sample_varlen import clean, varlen

SAMPLES: dict[str, Callable[[], Ledger]] = {
    "varlen": varlen,
    "clean": clean,
    "eager_raises": eager_raises,
    "interrupted": interrupted,
    "not_worth_it": not_worth_it,
    "breaks": breaks,
}
