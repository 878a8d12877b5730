"""The program's stances (``torch.compiler.set_stance``): which, from which line, for which calls.

A stance belongs to the process. It is seen where torch puts it in place, so that the
function, the context manager and the decorator are all seen alike.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from compile_ledger.facts.calls import RegionCalls, StanceUse
from compile_ledger.facts.place import Place
from compile_ledger.observe.capabilities import need
from compile_ledger.observe.recording.call_view import arguments
from compile_ledger.observe.stack import callers, lines_here
from compile_ledger.observe.what_if.first_failure import first_refusals

from .own_code import ours
from .stand_in import hide, stand_in

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

    from compile_ledger.observe.recording.session import Session

    from .regions import RegionState

DEFAULT = "default"
_PLACE = "_compile_ledger_place"
"""The attribute of a stance that holds the line that made it."""
_MOST = 64
"""Lines that are told apart; later ones count for the last of them."""


class _Use:
    """One stance from one line, while the process lives."""

    def __init__(self, name: str, place: Place | None) -> None:
        self.name = name
        self.place = place
        self.calls: dict[int, int] = {}
        self.silent: int | None = 0
        self.refused: dict[tuple[str, ...], None] = {}
        """Reasons for which every entry refused a call that was looked at."""

    def fact(self) -> StanceUse:
        calls = tuple(RegionCalls(region, number) for region, number in self.calls.items())
        return StanceUse(self.name, self.place, calls, self.silent, tuple(self.refused))


class Stances:
    """What ran under which stance; the default one is not kept."""

    def __init__(self, session: Session) -> None:
        """No stance was set yet."""
        self.session = session
        self.now: _Use | None = None
        self._uses: dict[tuple[str, Place | None], _Use] = {}
        self._began: tuple[dict[int, int], int | None] = ({}, 0)

    @property
    def name(self) -> str:
        """The stance in place that the program set, empty for the default one."""
        return "" if self.now is None else self.now.name

    @ours
    def switch(self, name: str, place: Place | None) -> None:
        """Another stance is in place from now on."""
        self._settle()
        if name == DEFAULT:
            self.now = None
            return
        key = (name, place)
        if key not in self._uses and len(self._uses) >= _MOST:
            key = next(reversed(self._uses))
        self.now = self._uses.setdefault(key, _Use(*key))
        self._began = self._reading()

    def read(self) -> tuple[StanceUse, ...]:
        """Every stance that was set, with the calls that began under it up to now."""
        self._settle()
        return tuple(use.fact() for use in list(self._uses.values()) if use.calls)

    def refused(self, region: RegionState, frame: FrameType | None) -> tuple[str, ...]:
        """Which guards refused the call that ends, where the stance then runs it eagerly.

        Asked of the guards after the call, without the call: torch tells nobody.
        """
        use, given = self.now, arguments(frame)
        if use is None or use.name != "eager_on_recompile" or given is None:
            return ()
        found = first_refusals(region.target(), *given)
        if found and len(use.refused) < _MOST:
            use.refused[found] = None
        return found

    def rebase(self) -> None:
        """Count from now; the stance in place stays."""
        kept = self.now
        self._uses.clear()
        if kept is not None:
            self.now = None
            self.switch(kept.name, kept.place)

    def _reading(self) -> tuple[dict[int, int], int | None]:
        regions = {r.fact.id: r.calls for r in self.session.regions}
        return regions, self.session.silent()

    def _settle(self) -> None:
        """Add what happened since the last look to the stance in place."""
        use = self.now
        if use is None:
            return
        (before, silent), (after, later) = self._began, self._reading()
        for region, number in after.items():
            more = number - before.get(region, 0)
            if more:
                use.calls[region] = use.calls.get(region, 0) + more
        if use.silent is not None and silent is not None and later is not None:
            use.silent += later - silent
        else:
            use.silent = None
        self._began = after, later


def install(session: Session) -> None:
    """Look at each stance that is put in place. Raises ``MissingError`` without stances."""
    from torch._dynamo import decorators, eval_frame

    session.stances = Stances(session)
    for module in (eval_frame, decorators):
        need(module, "_set_stance")
    for module in (eval_frame, decorators):
        original = module._set_stance  # noqa: SLF001
        watched = _watched(session, session.stances, original)
        stand_in(session, module, "_set_stance", watched)


def _watched(
    session: Session, stances: Stances, original: Callable[[Any], Any]
) -> Callable[[Any], Any]:
    def _set_stance(stance: Any) -> Any:
        try:
            prior = original(stance)
        except BaseException as error:
            hide(error)
            raise
        session.contained(_note, stances, stance)
        return prior

    return _set_stance


@ours
def _note(stances: Stances, stance: Any) -> None:
    if not hasattr(stance, _PLACE):
        setattr(stance, _PLACE, set_at())
    stances.switch(str(stance.stance), getattr(stance, _PLACE))


def set_at() -> Place | None:
    """The user's line that makes a stance: of a decorated function, where it is decorated."""
    for frame in callers(2):
        decorated = frame.f_code.co_name == "decorate_context"
        code = getattr(frame.f_locals.get("func"), "__code__", None) if decorated else None
        if code is not None:
            return Place(code.co_filename, code.co_firstlineno, code.co_name)
    return lines_here().user


def hold_eager() -> None:
    """Put ``force_eager`` in place and keep it: the program's own stances have no effect.

    For eager arms only. Raises ``MissingError`` on a torch without stances.
    """
    import torch
    from torch._dynamo import decorators, eval_frame

    need(eval_frame, "_set_stance")
    torch.compiler.set_stance("force_eager")
    shadow = [eval_frame.DynamoStance()]

    @ours
    def _set_stance(stance: Any) -> Any:
        prior, shadow[0] = shadow[0], stance
        return prior

    _set_stance._dynamo_forbidden = True  # type: ignore[attr-defined]  # noqa: SLF001
    for module in (eval_frame, decorators):
        module._set_stance = _set_stance  # noqa: SLF001
