"""Questions for a prompt or a notebook: ``cache_line(fn)`` and ``what_if(fn, *args)``.

The answers are facts that know how to show themselves: ``print(answer)``, and a table
where a notebook shows HTML.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, TypeVar

from compile_ledger.facts import cache_line as facts
from compile_ledger.facts import what_if as what_if_facts
from compile_ledger.facts.tensor_spec import TensorSpec

__all__ = ["CacheLine", "TensorSpec", "WhatIf", "cache_line", "load_cache_line", "what_if"]


@dataclass(frozen=True, slots=True)
class CacheLine(facts.CacheLine):
    """The cache lines of one region; ``print`` shows them."""

    def __str__(self) -> str:
        """Readable in a terminal of 80 columns."""
        from compile_ledger.render.cache_line import text

        return text(self)

    def _repr_html_(self) -> str:
        """A fragment for notebooks."""
        from compile_ledger.render.cache_line_html import html

        return html(self)

    def save(self, path: str | Path) -> None:
        """Write it as JSON. Raises ``OSError``."""
        Path(path).write_text(json.dumps(self.to_dict(), indent=1), encoding="utf-8")


@dataclass(frozen=True, slots=True)
class WhatIf(what_if_facts.WhatIf):
    """What a call would do; ``print`` shows it."""

    def __str__(self) -> str:
        """Readable in a terminal of 80 columns."""
        from compile_ledger.render.cache_line_question import text

        return text(self)

    def _repr_html_(self) -> str:
        """A fragment for notebooks."""
        from compile_ledger.render.cache_line_html import question_html

        return question_html(self)


_Shown = TypeVar("_Shown", CacheLine, WhatIf)


def cache_line(fn: Any) -> CacheLine:
    """The cache line of a compiled function, module, method or callable, as it stands now.

    For each code object that the region enters: its entries in the order in which a call
    asks them, what each assumes, how often it ran and refused, whether the code object is
    still on, and how many compiles are left before which limit. Nothing is compiled or
    changed. Raises ``TypeError`` where there is no Python code behind ``fn``.
    """
    from compile_ledger.observe.cache_line import read_cache_line

    return _shown(CacheLine, read_cache_line(fn))


def what_if(fn: Any, /, *args: Any, **kwargs: Any) -> WhatIf:
    """What ``fn(*args, **kwargs)`` would do next, without calling or compiling it.

    Tensors may be real or a :class:`TensorSpec`. ``fn`` may also be a saved cache line
    (:func:`load_cache_line`), which is asked without the program and without torch.
    Raises ``TypeError`` where the arguments do not fit.
    """
    if isinstance(fn, facts.CacheLine):
        from compile_ledger.observe.what_if.offline import ask_saved

        return _shown(WhatIf, ask_saved(fn, args, kwargs))
    from compile_ledger.observe.what_if import ask

    return _shown(WhatIf, ask(fn, args, kwargs))


def load_cache_line(path: str | Path, region: str | int | None = None) -> CacheLine:
    """Read what :meth:`CacheLine.save` wrote, or one region's lines of a ledger.

    ``path`` is a file or the folder of a ledger. ``region`` chooses where a ledger has
    several: the name of what was compiled, of a code object, or the region's number.
    Raises ``OSError``, and ``ValueError`` for another file or a region that is not there.
    """
    file = Path(path) / "ledger.json" if Path(path).is_dir() else Path(path)
    text = file.read_text(encoding="utf-8")
    data = json.loads(text)
    if isinstance(data, dict) and "schema_version" in data:
        from compile_ledger.judge.saved_line import saved_line
        from compile_ledger.render.json import from_json

        return _shown(CacheLine, saved_line(from_json(text), region))
    return _shown(CacheLine, facts.from_dict(data))


def _shown(kind: type[_Shown], fact: facts.CacheLine | what_if_facts.WhatIf) -> _Shown:
    """The same fact, as a class that shows itself."""
    return kind(**{field.name: getattr(fact, field.name) for field in fields(fact)})
