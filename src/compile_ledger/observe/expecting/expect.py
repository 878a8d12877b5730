"""A contract for tests: in the steady state nothing compiles and nothing runs eagerly."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import words
from .watch import Seen, Watch

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

    from typing_extensions import Self

_COMPILES = ("compiled", "recompiled")


class ExpectationFailed(AssertionError):  # noqa: N818  reads as what happened in a test's output
    """The steady state was not steady; the message names the guards, values and lines."""

    def __init__(self, problems: tuple[str, ...]) -> None:
        """``problems``: each finding in words, the first the one to look at."""
        self.problems = problems
        super().__init__("\n".join(("the steady state is not steady:", *problems)))


class expect:  # noqa: N801  used as a function is
    """Raise :class:`ExpectationFailed` where the calls inside the block are not steady.

    The first ``after`` calls of each region are warm-up. Of the later ones at most
    ``max_recompiles`` may compile. ``no_eager``: none may be refused at a limit, run
    eagerly in silence, or find its code object switched off. ``fullgraph``: each must run
    as one graph. Any backend and any thread; every hook is taken out at the end. What
    this torch does not let us see is listed in ``not_measured``, never taken as good::

        with compile_ledger.expect(after=2):
            for batch in batches:
                model(batch)
    """

    def __init__(
        self,
        *,
        max_recompiles: int = 0,
        fullgraph: bool = False,
        no_eager: bool = True,
        after: int = 0,
    ) -> None:
        self.max_recompiles = max_recompiles
        self.fullgraph = fullgraph
        self.no_eager = no_eager
        self.not_measured: tuple[str, ...] = ()
        self._watch = Watch(after)

    def __repr__(self) -> str:
        """One line: the contract, and how many compiles the block has made so far."""
        terms = f"max_recompiles={self.max_recompiles}, fullgraph={self.fullgraph}"
        made = sum(seen.steady and seen.fact.outcome in _COMPILES for seen in self._watch.seen)
        return f"<expect({terms}, no_eager={self.no_eager}): {made} compiled when steady>"

    def __enter__(self) -> Self:
        """Install the hooks."""
        import torch._dynamo  # noqa: F401  the hooks patch it

        self._watch.install()
        absent = [one for one in self._watch.capabilities.table.values() if not one.present]
        self.not_measured = tuple(f"{one.shows}: {one.why}" for one in absent)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Take the hooks out; raise what was found, unless the block itself raised."""
        self._watch.remove()
        if error is None:
            problems = tuple(self._problems())
            if problems:
                raise ExpectationFailed(problems)

    def _problems(self) -> Iterator[str]:
        steady = [seen for seen in self._watch.seen if seen.steady]
        yield from self._compiles(steady)
        if self.no_eager:
            yield from self._eager(steady)
        if self.fullgraph:
            yield from self._splits(steady)
        if self._watch.lost:
            yield words.lost(self._watch.losses())

    def _compiles(self, steady: list[Seen]) -> Iterator[str]:
        found = [seen for seen in steady if seen.fact.outcome in _COMPILES]
        if len(found) > self.max_recompiles:
            yield words.compiles(found, self.max_recompiles, self._watch.session)

    def _eager(self, steady: list[Seen]) -> Iterator[str]:
        for seen in steady:
            if seen.fact.outcome in ("refused", "switched_off"):
                yield words.refused(seen, self._watch.session)
        silent = self._watch.silent
        if silent:
            yield words.silent(silent)
        for region in self._watch.regions.regions.values():
            if region.unserved:
                yield words.unserved(region)

    def _splits(self, steady: list[Seen]) -> Iterator[str]:
        for seen in steady:
            for broken in seen.fact.breaks:
                yield words.graph_break(broken)
        for region in self._watch.regions.regions.values():
            if region.split:
                yield words.split(region)
