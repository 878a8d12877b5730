"""Watches the first calls of each region: keeps eager's, or compares with them."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from compile_ledger.facts.agreement import GRADIENTS, Agreement
from compile_ledger.observe.recording.call_view import NOTHING, arguments, result

from .error import Tolerance, Where, compare_leaf, nudge, within_drift
from .gradients import Gradients
from .reach import shared_with_copy
from .snapshot import GONE, Before, after_call, before_call, changeable
from .store import Store
from .twin import Twin, require_copyable

if TYPE_CHECKING:
    from collections.abc import Callable

    from compile_ledger.facts.calls import Call
    from compile_ledger.observe.recording.calls import OpenCall

_EMPTY = "it returned None and changed nothing that is watched"
_UNSEEN = "this torch does not show what a compiled call returned"
_MOST = 80
_DRIFTED = "compared with an eager copy in this process: inputs had drifted apart"

DRIFT = "drift"
"""The folder, among eager's outputs, of those of eager that started a few roundings off."""
_WRONG_ALREADY = "the call's outputs differ already"
_NO_ENGINE = "this torch does not show its backward passes"
COMPILED = "the compiled call"

FINAL = -1
"""The number under which the end of the run is kept: state, and a program's result."""


class Watcher:
    """Numbers the outermost calls of each region and sees the first ``most`` of each."""

    def __init__(self, store: Store, most: int) -> None:
        """Keep to or compare with ``store``."""
        self.store = store
        self.most = most
        self._counts: dict[int, int] = {}
        self._seen: dict[int, tuple[int, Before, Any]] = {}

    def before(self, call: OpenCall) -> None:
        """Take the fingerprint of a call that is about to run."""
        if call.depth:
            return
        region = call.region.fact.id
        number = self._counts[region] = self._counts.get(region, -1) + 1
        given = arguments(call.frame)
        if number < self.most and given is not None:
            target = call.region.target()
            snapshot = before_call(target, *given)
            extra = self.prepare(region, number, snapshot, (target, *given))
            self._seen[id(call)] = (number, snapshot, extra)

    def after(self, call: OpenCall, fact: Call) -> None:
        """Look at what the call left."""
        seen = self._seen.pop(id(call), None)
        if seen is None:
            return
        value = result(call.frame)
        number, snapshot, extra = seen
        if value is NOTHING and fact.raised is None:
            self.unseen(fact.region, number)
            return
        content = after_call(snapshot, None if value is NOTHING else value)
        content["raised"] = fact.raised.type if fact.raised else ""
        content["value"] = value
        self.finish(fact.region, number, snapshot, content, extra)

    def unseen(self, region: int, number: int) -> None:
        """This torch does not show what a call returned."""

    def prepare(self, region: int, number: int, before: Before, called: Any) -> Any:
        """Whatever must happen before the call; its result is handed to ``finish``."""

    def finish(
        self, region: int, number: int, before: Before, content: dict[str, Any], extra: Any
    ) -> None:
        """Take the call's outputs."""
        raise NotImplementedError

    def final(self, value: Any) -> None:
        """Take what the whole run left: state, a program's result."""

    def ended(self, exit_status: int) -> None:
        """Take the exit status that the program asked for."""


class Keeper(Watcher):
    """The eager arm: keeps outputs."""

    def prepare(self, region: int, number: int, before: Before, called: Any) -> Any:  # noqa: D102
        del region, number, before
        return bool(shared_with_copy(called[0]))

    def finish(  # noqa: D102
        self, region: int, number: int, before: Before, content: dict[str, Any], extra: Any
    ) -> None:
        del content["value"]
        trained = any(path.startswith("state") for path in content["tensors"])
        content["trains_uncopied"] = trained and extra
        self.store.keep(region, number, {**content, "fingerprint": before.fingerprint()})

    def final(self, value: Any) -> None:  # noqa: D102
        self.store.keep(FINAL, 0, final_content(value))

    def ended(self, exit_status: int) -> None:  # noqa: D102
        self.store.keep(FINAL, 1, final_content(exit_status))


class Drifter(Keeper):
    """An eager arm that starts each region a few roundings off, and keeps where that leads.

    The distance from the eager arm is what rounding alone does to a training program:
    compiled steps may go as far.
    """

    def before(self, call: OpenCall) -> None:
        """Move what a region's first call finds, parameters and buffers, by a few roundings."""
        region = call.region.fact.id
        if not call.depth and region not in self._counts:
            target = call.region.target()
            found = {} if target is None else changeable(target, (), {})
            nudge({path: t for path, t in found.items() if "grad of" not in path})
        super().before(call)

    def final(self, value: Any) -> None:
        """Nothing: the end of the run is compared with eager's alone."""

    def ended(self, exit_status: int) -> None:
        """Nothing, likewise."""


def final_content(value: Any) -> dict[str, Any]:
    """The leaves of what a run left, in the form that calls have."""
    return {**after_call(Before(), value), "raised": "", "fingerprint": {}}


class Referee(Watcher):
    """The reference arm: runs each call first on an fp64 copy, and keeps that."""

    def prepare(self, region: int, number: int, before: Before, called: Any) -> Any:  # noqa: D102
        del before
        try:
            content = run_twin(Twin(double=True), *called)
        except Exception:  # noqa: BLE001  no copy, or none in fp64: it is judged without one
            return
        if not content["random_used"]:
            self.store.keep(region, number, {**content, "fingerprint": {}})

    def finish(self, *_: Any) -> None:  # noqa: D102
        return


def run_twin(twin: Twin, target: Any, args: Any, kwargs: Any) -> dict[str, Any]:
    """Outputs of ``target``'s code on copies; random state is put back afterwards.

    Raises :class:`NoTwinError`.
    """
    import random

    import torch

    require_copyable(target)
    function = twin.target(target)
    copies = twin.value((args, kwargs))
    python_state = random.getstate()
    with torch.random.fork_rng():
        before = before_call(function, *copies)
        value = function(*copies[0], **copies[1])
        content = after_call(before, value)
    random.setstate(python_state)
    return {**content, "raised": ""}


@dataclass(frozen=True)
class Beside:
    """What a comparison of a call's leaves rests on besides both sides; all by path."""

    reference: dict[str, Any] = field(default_factory=dict)
    before: dict[str, Any] = field(default_factory=dict)
    """What both sides found."""
    note: str = ""
    drifted: dict[str, Any] = field(default_factory=dict)
    """What eager gives that started a few roundings off."""


class Comparer(Watcher):
    """A compiled arm: compares each call with eager's where the inputs are identical."""

    def __init__(
        self,
        stores: tuple[Store, Store],
        most: int,
        stated: Tolerance,
        write: Callable[[Agreement], None],
    ) -> None:
        """``stores`` are eager's outputs and the fp64 reference; facts go to ``write``."""
        super().__init__(stores[0], most)
        self.reference = stores[1]
        self.drift = Store(stores[0].folder / DRIFT)
        self.stated = stated
        self.write = write
        self.gradients = Gradients(write)
        self.sees_backward = True
        self._differed = False
        """Whether the call that is compared differs already."""

    def unseen(self, region: int, number: int) -> None:
        """Say so: what cannot be seen is not compared."""
        self.write(Agreement(region, number, "call", "not_compared", why=_UNSEEN))

    def prepare(self, region: int, number: int, before: Before, called: Any) -> Any:
        """Where the inputs are not eager's, run an eager and an fp64 copy on these."""
        kept = self.store.load(region, number)
        if kept is None:
            return None
        return _beside(kept, before, called), self.gradients.prepare(*called), called

    def finish(  # noqa: D102
        self, region: int, number: int, before: Before, content: dict[str, Any], extra: Any
    ) -> None:
        kept = self.store.load(region, number)
        if kept is None or extra is None:
            return
        beside, prepared, called = extra
        where = Where(region, number, "call")
        self._differed = False
        self._judge((region, number), kept, before, content, beside)
        if prepared is not None and not content["raised"]:
            why = _WRONG_ALREADY if self._differed else ""
            self.gradients.ran(where, prepared, called, content["value"], why)
            if content["differentiable"] and not self.sees_backward:
                self.write(Agreement(region, number, GRADIENTS, "not_compared", why=_NO_ENGINE))

    def _judge(
        self, at: tuple[int, int], kept: Any, before: Before, content: Any, extra: Any
    ) -> None:
        where = Where(*at, "call")
        if isinstance(extra, dict):
            fp64 = extra["reference"]["tensors"]
            self._compare(where, extra, content, Beside(fp64, before.before(), _DRIFTED))
            return
        differ = _differences(kept, before)
        reference = None if differ else self.reference.load(*at)
        drift = None if reference else self.drift.load(*at)
        if drift is not None and _may_drift(differ, kept, drift):
            beside = Beside(before=before.before(), drifted=drift["tensors"])
            self._compare(where, kept, content, beside)
            return
        if differ:
            why = f"{' and '.join(differ)} not identical to eager's; no copy: {extra}"
            self.write(Agreement(where.region, where.call, "call", "not_compared", why=why))
            return
        fp64 = reference["tensors"] if reference else {}
        self._compare(where, kept, content, Beside(fp64, before.before()))

    def final(self, value: Any) -> None:  # noqa: D102
        kept = self.store.load(FINAL, 0)
        if kept is not None:
            self._compare(Where(None, None, "state"), kept, final_content(value), Beside())

    def ended(self, exit_status: int) -> None:
        """An exit status is output; that it agrees proves nothing."""
        kept = self.store.load(FINAL, 1)
        eager = kept["texts"]["out"].removeprefix("int ") if kept else str(exit_status)
        if eager != str(exit_status):
            why = f"eager: {eager}; compiled: {exit_status}"
            self.write(Agreement(None, None, "exit status", "differs", why=why))

    def _compare(self, where: Where, kept: Any, content: Any, beside: Beside) -> None:
        if kept["raised"] != content["raised"]:
            why = f"eager: {kept['raised'] or 'no exception'}; here: {content['raised'] or 'none'}"
            self.write(Agreement(where.region, where.call, "exception", "differs", why=why))
            return
        mine, theirs = _by_path(kept), _by_path(content)
        if _is_nothing(kept) and _is_nothing(content):
            self.write(Agreement(where.region, where.call, "call", "not_compared", why=_EMPTY))
            return
        for path in dict.fromkeys([*mine, *theirs]):
            leaf = Where(
                where.region, where.call, f"state{path[3:]}" if where.call is None else path
            )
            pair = mine.get(path), theirs.get(path)
            before, fp64 = beside.before.get(path), beside.reference.get(path)
            found = self.compare_one(leaf, pair, before, fp64)
            if found.status == "differs" and path in beside.drifted:
                found = within_drift(found, pair, before, beside.drifted[path])
            self._differed |= found.status == "differs"
            self.write(_noted(found, beside.note))

    def compare_one(self, where: Where, pair: Any, before: Any, reference: Any) -> Agreement:
        """Compare one leaf of eager's and the compiled call's; ``before``: as both found it.

        A side that lacks a leaf of state left it as it was. Where there was nothing
        before, that side has nothing.
        """
        mine, theirs = pair
        if mine is not None and theirs is not None:
            return compare_leaf(where, mine, theirs, reference, self.stated)
        what = _said(mine if theirs is None else theirs)
        if before is None:
            side = "eager only" if theirs is None else "compiled only"
            why = f"present in {side}: {what}"
            return Agreement(where.region, where.call, where.leaf, "differs", why=why)
        mine, theirs = (mine, before) if theirs is None else (before, theirs)
        found = compare_leaf(where, mine, theirs, reference, self.stated)
        if found.status != "differs":
            return found
        who, other = ("eager", COMPILED) if pair[1] is None else (COMPILED, "eager")
        value = next(part for part in pair if part is not None)
        to = f" to {what}" if isinstance(value, str) else ""
        how = "took it away" if what == GONE else f"changed it{to}"
        return dataclasses.replace(found, why=f"{who} {how}, {other} did not")


class Repeater(Comparer):
    """The second eager arm: any difference at all is nondeterminism."""

    def prepare(self, region: int, number: int, before: Before, called: Any) -> Any:
        """No copies: a second eager run is compared only with the first."""
        del region, number, before
        return None, None, called

    def compare_one(self, where: Where, pair: Any, before: Any, reference: Any) -> Agreement:  # noqa: D102
        found = super().compare_one(where, pair, before, reference)
        if found.status != "within":
            return found
        return Agreement(
            where.region,
            where.call,
            where.leaf,
            "differs",
            why="eager differs from itself",
            max_abs=found.max_abs,
            stated=found.stated,
        )


def _beside(kept: Any, before: Before, called: Any) -> Any:
    """An eager and an fp64 copy's outputs, where inputs are not eager's; or why there is none."""
    if not _differences(kept, before):
        return None
    try:
        mine = run_twin(Twin(double=False), *called)
        return {**mine, "reference": run_twin(Twin(double=True), *called)}
    except Exception as error:  # noqa: BLE001  no copy: the call is not compared, and why
        return f"{type(error).__name__}: {error}"[:200]


def _may_drift(differ: list[str], kept: Any, drift: Any) -> bool:
    """Whether everything that differs before a call differs by rounding in eager's drift, too."""
    own = {name for name, text in drift["fingerprint"].items() if kept["fingerprint"][name] != text}
    return set(differ) <= {"parameters", "tensors that it holds"} | own


def _differences(kept: dict[str, Any], before: Before) -> list[str]:
    """What of a call's inputs is not identical to eager's; unused random states do not count."""
    theirs, used = kept["fingerprint"], kept["random_used"]
    mine = before.fingerprint()
    differ = [name for name in mine if theirs.get(name, mine[name]) != mine[name]]
    return [name for name in differ if not name.endswith("random state") or name in used]


def _is_nothing(content: dict[str, Any]) -> bool:
    """A call that returned None and changed nothing."""
    return content["texts"] == {"out": "NoneType None"} and not content["tensors"]


def _said(value: Any) -> str:
    """A leaf in few letters: its text, or the dtype and shape of a tensor."""
    text = value if isinstance(value, str) else f"{value.dtype} {list(value.shape)}"
    return text[:_MOST]


def _by_path(content: Any) -> dict[str, Any]:
    return {**content["texts"], **content["tensors"]}


def _noted(agreement: Agreement, note: str) -> Agreement:
    both = "; ".join(part for part in (agreement.note, note) if part)
    return dataclasses.replace(agreement, note=both)
