"""What an arm is told: written by the audit, read by the arm's process."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import msgspec

from compile_ledger.observe.hooks.own_calls import CHANGED as COUNTED
from compile_ledger.observe.operators import CHANGED as SAMPLED

from .enough import Prefix
from .loaded_states import WATCHED as LOADS
from .targets import Target

Role = Literal["none", "keep", "reference", "compare", "repeat", "drift"]
"""``keep``: save eager's outputs; ``reference``: save the fp64 run; ``compare``: compare
with them; ``repeat``: compare bit for bit (eager against itself); ``drift``: save what eager
gives that starts a few roundings off."""

InPlace = Literal["", "module", "forward"]


@dataclass(frozen=True)
class Removal:
    """One change that removed breaks: what an arm times the program with and without."""

    experiment: str
    change: str
    """In words."""
    settings: dict[str, Any]
    """Settings of ``torch._dynamo.config`` while the region is compiled once more."""
    regions: tuple[int, ...]


@dataclass(frozen=True)
class ArmSpec:
    """One arm: target, condition, and what to observe."""

    name: str
    target: Target
    recording: str
    """The file that the arm's facts go to."""
    kept: str
    """The folder that eager's outputs are kept in."""
    eager: bool = False
    """Run under ``torch.compiler.set_stance("force_eager")``."""
    plain: bool = False
    """Run with ``torch.compile`` as the identity."""
    overrides: dict[str, Any] = field(default_factory=dict)
    """Keyword arguments of ``torch.compile`` that the arm replaces."""
    settings: dict[str, Any] = field(default_factory=dict)
    """Settings of ``torch._dynamo.config`` that the arm changes."""
    in_place: InPlace = ""
    """Make ``torch.compile(module)`` compile the module itself, or its ``forward``."""
    cheap_backend: bool = False
    """Replace an expensive backend by ``eager``."""
    role: Role = "none"
    compare: int = 8
    rtol: float | None = None
    atol: float | None = None
    fallback_random: bool = False
    prewarm: bool = False
    steady: bool = False
    ablate: Removal | None = None
    """Time calls as they are and without what this removes, after the program has ended."""
    opinions: tuple[int, ...] = ()
    """Regions of which torch's own instruments are asked, after the program has ended."""
    own_calls: bool = False
    """Count the calls that go round each region; only where nothing is compiled."""
    operators: bool = False
    """Count the operators of sampled calls, inside graphs and outside."""
    ask_toolchain: bool = False
    """Ask for a C++ compiler at the end, where no arm will need one to tell."""
    max_calls: int | None = None
    prefix: Prefix | None = None
    """The calls after which the arm ends a program that goes on; None: it runs whole."""
    timeout: float = 0.0
    """Seconds after which the arm ends, whatever the program does."""
    suffices: int | None = None
    """Outermost calls that make an arm which ran past its timeout worth judging."""
    seed: int = 0
    threads: int = 1
    change: str = ""
    env: dict[str, str] = field(default_factory=dict)
    dropped: tuple[str, ...] = ()
    """Variables of the user that the arm does not get, as ``NAME=value``."""

    def write(self, path: Path) -> None:
        """Write the spec for the arm's process."""
        path.write_bytes(msgspec.json.encode(self))

    @staticmethod
    def read(path: Path) -> ArmSpec:
        """Read a spec that :meth:`write` wrote."""
        return msgspec.json.decode(path.read_bytes(), type=ArmSpec)

    @property
    def watches_loads(self) -> bool:
        """Whether state that is loaded by name is looked at: in the two arms that compare it."""
        return self.plain or self.role == "keep"

    def changes(self) -> tuple[str, ...]:
        """What the arm changes of the program and its process, in words."""
        said = [f"seed {self.seed}", f"{self.threads} thread(s)"]
        said += [f"{name}={value}" for name, value in self.env.items()]
        said += [f"{variable} dropped" for variable in self.dropped]
        said += [f"torch.compile({name}={value!r})" for name, value in self.overrides.items()]
        said += [f"torch._dynamo.config.{n} = {v!r}" for n, v in self.settings.items()]
        if self.cheap_backend:
            said.append("torch.compile(backend='eager') in place of a backend that generates code")
        if self.role == "drift":
            said.append("each region's first call finds its state moved by up to four roundings")
        if self.role == "compare":
            said.append("backward passes watched, compared calls made again on copies")
        places = [self.in_place] if self.in_place else []
        said += [f"torch.compile(module) compiles the {one} in place" for one in places]
        counted = {COUNTED: self.own_calls, SAMPLED: self.operators}
        said += [words for words, done in counted.items() if done]
        said.append("os._exit(0) measures and writes first")
        if self.watches_loads:
            said.append(LOADS)
        if self.eager:
            said.append("torch.compiler.set_stance('force_eager'), in place of the program's own")
        if self.plain:
            said.append("torch.compile as the identity")
        if self.fallback_random:
            said.append("torch._inductor.config.fallback_random = True")
        return tuple(said)
