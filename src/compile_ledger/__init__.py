"""compile-ledger: names the first assumption of torch.compile that stopped holding.

``import compile_ledger`` does not import torch; each public name is loaded when
it is first asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from compile_ledger.ask import TensorSpec, audit, cache_line, load_cache_line, what_if
    from compile_ledger.experiment.workload import Workload
    from compile_ledger.observe.expecting.expect import ExpectationFailed, expect
    from compile_ledger.observe.recording.live import record, start, stop

_WHERE = {
    "ExpectationFailed": "compile_ledger.observe.expecting.expect",
    "TensorSpec": "compile_ledger.ask",
    "Workload": "compile_ledger.experiment.workload",
    "audit": "compile_ledger.ask",
    "cache_line": "compile_ledger.ask",
    "expect": "compile_ledger.observe.expecting.expect",
    "load_cache_line": "compile_ledger.ask",
    "record": "compile_ledger.observe.recording.live",
    "start": "compile_ledger.observe.recording.live",
    "stop": "compile_ledger.observe.recording.live",
    "what_if": "compile_ledger.ask",
}

__all__ = [
    "ExpectationFailed",
    "TensorSpec",
    "Workload",
    "__version__",
    "audit",
    "cache_line",
    "expect",
    "load_cache_line",
    "record",
    "start",
    "stop",
    "what_if",
]


def __getattr__(name: str) -> Any:
    """Load a public name on first use, so that importing the package stays cheap."""
    if name not in _WHERE:
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    from importlib import import_module

    value = getattr(import_module(_WHERE[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Every public name, loaded or not."""
    return sorted(__all__)
