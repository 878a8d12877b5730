"""Questions for a prompt or a notebook: ``cache_line``, ``what_if``, ``audit``.

The answers are facts that know how to show themselves: ``print(answer)``, and a table
where a notebook shows HTML.
"""

from __future__ import annotations

import html
import io
import json
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, fields
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, TypeVar

from compile_ledger.facts import cache_line as facts
from compile_ledger.facts import what_if as what_if_facts
from compile_ledger.facts.contract import DEFAULT_ATOL, DEFAULT_RTOL, Contract, Depth
from compile_ledger.facts.tensor_spec import TensorSpec
from compile_ledger.judge import document
from compile_ledger.judge.words import count

if TYPE_CHECKING:
    from compile_ledger.experiment.audit import Listener
    from compile_ledger.experiment.workload import Workload

__all__ = [
    "CacheLine",
    "Ledger",
    "TensorSpec",
    "WhatIf",
    "audit",
    "cache_line",
    "load_cache_line",
    "what_if",
]


@dataclass(frozen=True, slots=True, repr=False)
class CacheLine(facts.CacheLine):
    """The cache lines of one region; ``print`` shows them."""

    def __repr__(self) -> str:
        """One line: what was compiled, how many entries it has, and its state."""
        entries = sum(len(line.entries) + line.more for line in self.lines)
        return (
            f"<CacheLine of {self.target}: {count(entries, 'entry', 'entries')}, {self.root.state}>"
        )

    def __str__(self) -> str:
        """Readable in a terminal of 80 columns."""
        from compile_ledger.render.cache_line import text

        return text(self)

    def _repr_html_(self) -> str:
        """A fragment for notebooks."""
        from compile_ledger.render.cache_line_html import html as fragment

        return fragment(self)

    def save(self, path: str | Path) -> None:
        """Write it as JSON. Raises ``OSError``."""
        Path(path).write_text(json.dumps(self.to_dict(), indent=1), encoding="utf-8")


@dataclass(frozen=True, slots=True, repr=False)
class WhatIf(what_if_facts.WhatIf):
    """What a call would do; ``print`` shows it."""

    def __repr__(self) -> str:
        """One line: what the call would do."""
        by = f" by {self.hit}" if self.hit else ""
        return f"<WhatIf of {self.target}: {self.next}{by}>"

    def __str__(self) -> str:
        """Readable in a terminal of 80 columns."""
        from compile_ledger.render.cache_line_question import text

        return text(self)

    def _repr_html_(self) -> str:
        """A fragment for notebooks."""
        from compile_ledger.render.cache_line_html import question_html

        return question_html(self)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Ledger(document.Ledger):
    """The judged ledger of an audit; ``print`` shows the report, a notebook its page."""

    def __repr__(self) -> str:
        """One line: the target and each level's status."""
        said = ", ".join(f"{one.level} {one.status.replace('_', ' ')}" for one in self.levels)
        return f"<Ledger of {self.target}: {said}>"

    def __str__(self) -> str:
        """The report of the command, 80 columns wide."""
        from rich.console import Console

        from compile_ledger.render import form

        stream = io.StringIO()
        form("terminal")(self, Console(file=stream, width=80, highlight=False, color_system=None))
        return stream.getvalue()

    def _repr_html_(self) -> str:
        """The page of ``--html`` in a frame of its own: its styles are not the notebook's."""
        from compile_ledger.render import form

        page = html.escape(form("html")(self), quote=True)
        frame = 'sandbox="allow-scripts" style="width: 100%; height: 40em; border: 0"'
        return f'<iframe {frame} srcdoc="{page}"></iframe>'

    def __eq__(self, other: object) -> bool:
        """Equal content, whichever class shows it."""
        if not isinstance(other, document.Ledger):
            return NotImplemented
        return all(getattr(self, f.name) == getattr(other, f.name) for f in fields(self))

    __hash__ = None  # type: ignore[assignment]  # as any object with lists inside


def audit(  # noqa: PLR0913  the public call has the options of the command
    fn: Callable[..., Any] | Workload,
    calls: Iterable[Any] | None = None,
    *,
    compile: Mapping[str, Any] | None = None,  # noqa: A002  torch's own word
    depth: Depth = "default",
    rtol: float | None = None,
    atol: float | None = None,
    horizon: int | None = None,
    compare: int = 8,
    max_calls: int | None = None,
    whole: bool = False,
    timeout: float = 900.0,
    output: str | Path | None = None,
    progress: bool | None = None,
    listener: Listener | None = None,
) -> Ledger:
    """Audit a callable with its calls, from Python or a notebook.

    ``calls`` is an iterable of ``(args, kwargs)``, of tuples, or of single arguments;
    ``compile`` holds the keyword arguments of ``torch.compile``; what is compiled already
    is audited with its own. All are shipped to fresh processes; what cannot be shipped
    gives a ledger in which everything is not measured, with the reason. ``max_calls`` ends
    each arm after so many calls, ``whole`` never: see docs/experiments.md. ``timeout`` is
    in seconds an arm, ``output`` a folder that keeps everything. ``progress``: say on
    stderr how far it is; by default where stderr is a terminal or a notebook; a
    ``listener`` hears the same in place of it. Raises ``AuditError`` when the workload
    cannot be audited.
    """
    from compile_ledger.experiment.workload import Workload
    from compile_ledger.observe.cache_line.target import name_of
    from compile_ledger.progress import Progress

    workload = fn if isinstance(fn, Workload) else Workload(fn, calls or (), compile or {})
    contract = Contract(
        rtol=DEFAULT_RTOL if rtol is None else rtol,
        atol=DEFAULT_ATOL if atol is None else atol,
        horizon=horizon,
        depth=depth,
        compare=compare,
        target=name_of(workload.fn),
    )
    bounds = {
        "compare": compare,
        "max_calls": max_calls,
        "whole": whole,
        "timeout": timeout,
        "rtol": rtol,
        "atol": atol,
    }
    with ExitStack() as stack:
        folder = output or stack.enter_context(TemporaryDirectory(prefix="compile-ledger-"))
        if listener is None and (Progress.wanted() if progress is None else progress):
            listener = stack.enter_context(Progress())
        return _shown(Ledger, _audited(workload, Path(folder), contract, bounds, listener))


def _audited(
    workload: Workload,
    folder: Path,
    contract: Contract,
    bounds: dict[str, Any],
    listener: Listener | None,
) -> document.Ledger:
    from compile_ledger.experiment import shipping
    from compile_ledger.experiment.audit import Audit
    from compile_ledger.experiment.plan import Terms

    try:
        target = shipping.ship(workload, folder)
    except shipping.CannotShipError as error:
        return shipping.nothing_measured(contract, str(error))
    return Audit(Terms(target, folder, **bounds), contract, listener).run()


_Shown = TypeVar("_Shown", CacheLine, WhatIf, Ledger)


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


def _shown(kind: type[_Shown], fact: Any) -> _Shown:
    """The same fact, as a class that shows itself."""
    return kind(**{field.name: getattr(fact, field.name) for field in fields(fact)})
