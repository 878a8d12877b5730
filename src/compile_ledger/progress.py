"""Progress on stderr: the arm that runs, what it is for, and the provisional diagnosis."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from rich.console import Console
from rich.markup import escape

from compile_ledger.experiment.audit import Listener
from compile_ledger.render.words import seconds as in_words

if TYPE_CHECKING:
    from types import TracebackType

    from rich.status import Status
    from typing_extensions import Self

    from compile_ledger.experiment.launch import ArmFolder
    from compile_ledger.facts.arm import Arm
    from compile_ledger.judge.document import Ledger


_EVERY = 60.0
"""Seconds between lines about one arm where stderr is no terminal."""


class Progress(Listener):
    """A spinner where stderr is a terminal, else one line for each arm that ended."""

    def __init__(self) -> None:
        """Show on stderr."""
        self.console = Console(stderr=True, highlight=False)
        self.status: Status | None = None
        self.number = 0
        self._why = ""
        self._told = 0.0

    @staticmethod
    def wanted() -> bool:
        """Whether somebody watches: stderr is a terminal, or a notebook shows it."""
        return (sys.stderr is not None and sys.stderr.isatty()) or "ipykernel" in sys.modules

    def __enter__(self) -> Self:
        """Start the spinner."""
        if sys.stderr.isatty():
            self.status = self.console.status("starting")
            self.status.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Take the spinner away."""
        if self.status is not None:
            self.status.stop()

    def arm_started(self, name: str, why: str) -> None:
        """Name the arm."""
        self.number += 1
        self._why, self._told = why, 0.0
        self._show(name, 0.0, "")

    def _show(self, name: str, seconds: float, waits: str) -> None:
        if self.status is not None:
            tail = f"\n  [dim]{escape(waits)}[/]" if waits else ""
            self.status.update(
                f"arm {self.number}: [bold]{name}[/], {escape(self._why)}  {seconds:.0f} s{tail}"
            )

    def progress(self, name: str, seconds: float, folder: ArmFolder) -> None:
        """Show how far the arm is; where there is no spinner, a line each minute."""
        said = _said(folder)
        self._show(name, seconds, said)
        if self.status is None and seconds >= self._told + _EVERY:
            self._told = seconds
            self._print(f"arm {self.number}, {name}: {seconds:.0f} s: {said}")

    def arm_ended(self, arm: Arm) -> None:
        """One line: how the arm ended, and what it cost."""
        said = arm.why or ("" if arm.ran else arm.status.replace("_", " "))
        said = f"ended {said}; the program went on" if arm.cut is not None and said else said
        spent = f"{in_words(arm.wall_ns / 1e9)} wall, {in_words(arm.cpu_ns / 1e9)} CPU"
        tail = f": {said}" if said else ""
        self._print(f"{arm.name:<14} {len(arm.calls)} calls, {spent}{tail}")

    def provisional(self, ledger: Ledger) -> None:
        """The cheap arms' diagnosis, before the dearer arms run."""
        self._print(f"so far: {ledger.verdict}")

    def _print(self, text: str) -> None:
        self.console.print(text, style="dim", markup=False)


def _said(folder: ArmFolder) -> str:
    """What the arm's own process says."""
    try:
        text = folder.progress.read_text(encoding="utf-8")
    except OSError:
        return "starting torch"
    return text.strip()
