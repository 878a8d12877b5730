"""The cumulative cost of eager and compiled calls, as the geometry of a chart."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate

from compile_ledger.judge.document import ArmRow
from compile_ledger.render.words import cut_right, seconds

LEFT, RIGHT, TOP, BOTTOM = 66.0, 560.0, 16.0, 236.0
"""The plot's edges in a viewBox of 760 by 280; labels stand to the right of it."""
MOST_POINTS = 400
LABEL_GAP = 32.0

STAND_INS = ("correct", "capture")
"""Arms that stand in for ``cold`` where it was not run, the better one first."""

LABELS = {
    "eager": "eager",
    "cold": "cold (compiled, no caches)",
    "warm": "warm (compiled, caches)",
    "correct": "correct (compiled)",
    "capture": "capture (backend=eager)",
}


@dataclass(frozen=True, slots=True)
class Tick:
    """A tick: where on its axis, in viewBox units, and its text."""

    at: float
    text: str


@dataclass(frozen=True, slots=True)
class Series:
    """One arm's curve."""

    arm: str
    label: str
    total: str
    points: str
    """``x,y`` pairs for a polyline, in viewBox units."""
    end: tuple[float, float]
    label_y: float


@dataclass(frozen=True, slots=True)
class Curve:
    """The whole chart; ``why`` is set, and the rest empty, when there is nothing to draw."""

    series: tuple[Series, ...] = ()
    x_ticks: tuple[Tick, ...] = ()
    y_ticks: tuple[Tick, ...] = ()
    notes: tuple[str, ...] = ()
    why: str = ""


def curve(arms: Iterable[ArmRow]) -> Curve:
    """CPU seconds summed over the calls of ``eager``, ``cold`` and ``warm``.

    Without ``cold`` the best stand-in that ran is drawn and named as one.
    """
    timed = {arm.name: arm for arm in arms if any(call.cpu_ns for call in arm.calls)}
    chosen = [timed[name] for name in _names(timed)]
    if not chosen:
        return Curve(why="not measured: no arm has timed calls")
    sums = [_cumulative(arm) for arm in chosen]
    most = max(len(line) - 1 for line in sums)
    top = max(line[-1] for line in sums)
    x_ticks, y_ticks = steps(most, whole=True), steps(top)
    x_top, y_top = float(most), max(top, y_ticks[-1])
    drawn = [_series(arm, line, x_top, y_top) for arm, line in zip(chosen, sums, strict=True)]
    return Curve(
        series=_apart(drawn),
        x_ticks=tuple(Tick(_x(n, x_top), f"{n:,.0f}") for n in x_ticks if n <= most),
        y_ticks=tuple(Tick(_y(value, y_top), seconds(value)) for value in y_ticks),
        notes=tuple(_notes(chosen)),
    )


def steps(top: float, *, whole: bool = False) -> list[float]:
    """Round values from 0 to at least ``top``, about five, at steps of 1, 2 or 5."""
    size = 10.0 ** _exponent(top / 5)
    step = next(size * k for k in (1, 2, 5, 10) if size * k * 5 >= top * 0.999)
    step = max(1.0, step) if whole else step
    made = [0.0]
    while made[-1] < top * 0.999:
        made.append(len(made) * step)
    return made


def _exponent(value: float) -> int:
    return int(f"{value:e}".partition("e")[2])


def _names(timed: dict[str, ArmRow]) -> list[str]:
    main: list[str] = [name for name in ("eager", "cold", "warm") if name in timed]
    stand_in = next((name for name in STAND_INS if name in timed), None)
    return main if "cold" in timed or stand_in is None else [*main, stand_in]


def _cumulative(arm: ArmRow) -> list[float]:
    return list(accumulate((call.cpu_ns / 1e9 for call in arm.calls), initial=0.0))


def _series(arm: ArmRow, line: Sequence[float], x_top: float, y_top: float) -> Series:
    stride = -(-len(line) // MOST_POINTS)
    kept = sorted({*range(0, len(line), stride), len(line) - 1})
    points = [(_x(index, x_top), _y(line[index], y_top)) for index in kept]
    return Series(
        arm=arm.name,
        label=cut_right(LABELS.get(arm.name, arm.name), 28),
        total=f"{seconds(line[-1])} in {len(line) - 1:,} calls",
        points=" ".join(f"{x:.1f},{y:.1f}" for x, y in points),
        end=points[-1],
        label_y=points[-1][1],
    )


def _x(value: float, top: float) -> float:
    return round(LEFT + (RIGHT - LEFT) * value / top, 1)


def _y(value: float, top: float) -> float:
    return round(BOTTOM - (BOTTOM - TOP) * value / top, 1)


def _apart(drawn: Sequence[Series]) -> tuple[Series, ...]:
    """The series with their labels moved up until none overlaps, lowest curve first."""
    made: list[Series] = []
    free = BOTTOM + LABEL_GAP
    for one in sorted(drawn, key=lambda series: -series.end[1]):
        label_y = min(one.end[1], free - LABEL_GAP, BOTTOM - LABEL_GAP / 2)
        made.append(Series(one.arm, one.label, one.total, one.points, one.end, label_y))
        free = label_y
    return tuple(made)


def _notes(chosen: Iterable[ArmRow]) -> Iterable[str]:
    for arm in chosen:
        if arm.calls_total > len(arm.calls):
            yield f"{arm.name}: the first {len(arm.calls):,} of {arm.calls_total:,} calls"
        if arm.name == "capture":
            yield (
                'The arm "capture" compiles with backend="eager": it shows when compiling '
                "happens, not what inductor costs or saves."
            )
        if arm.name == "correct":
            yield 'The arm "correct" stops after the calls that it compares.'
