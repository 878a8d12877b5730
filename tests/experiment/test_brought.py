"""A finding of real guards names the values that calls brought, and the user's line."""

from __future__ import annotations

import pytest

from compile_ledger.facts.arm import Arm
from compile_ledger.facts.contract import Contract
from compile_ledger.judge.document import Finding
from compile_ledger.judge.ledger import judge_levels
from compile_ledger.judge.stable.notes import notes
from compile_ledger.judge.stable.stream import streams
from compile_ledger.judge.view import look

from .support import capture, lines_of, program

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def arm(tmp_path_factory: pytest.TempPathFactory) -> Arm:
    return capture(program("brought.py:main"), tmp_path_factory.mktemp("brought"))


def of(arm: Arm, target: str) -> Finding:
    """The failure of a region's recompiles, else the note that it settled."""
    region = next(r.id for r in arm.regions if r.target == target)
    view = look(arm)
    failed = judge_levels({"capture": arm}, Contract(own_backend="eager"))[3].findings
    found = (*failed, *notes(view, streams(view), failed=False))
    wanted = ("recompile-", "settled")
    return next(f for f in found if f.region == region and f.slug.startswith(wanted))


@pytest.mark.parametrize(
    ("target", "kind", "said", "actual"),
    [
        ("summed", "dict-keys", "keys: extras ('req0', 'req1', 'req2', ...): at least 9", "'req1'"),
        ("joined", "length", "length: xs (1, 2, 3, ...): at least 9 distinct values", "2"),
        (
            "answered",
            "constant-str",
            "a string: request.name ('req-0', 'req-1', 'req-2', ...)",
            "'req-1'",
        ),
    ],
)
def test_what_fills_the_line_is_named_with_its_first_values(
    arm: Arm, target: str, kind: str, said: str, actual: str
) -> None:
    finding = of(arm, target)
    assert finding.slug == f"recompile-{kind}"
    assert said in finding.sentence
    assert (finding.first_call, finding.actual) == (1, actual)


@pytest.mark.parametrize(
    ("target", "kind", "said"),
    [
        ("moded", "identity", "(mode: Mode.FAST, Mode.EXACT, Mode.SAFE)"),
        ("applied", "constant-float", "1 on a Python float (radius: 1.0, 2.0)"),
        ("weighted", "shape", "(ids, axis 1: 3, 4, 5, ...), mask with it"),
    ],
)
def test_what_settled_is_named_with_its_values(arm: Arm, target: str, kind: str, said: str) -> None:
    finding = of(arm, target)
    assert (finding.slug, finding.cause) == ("settled", f"recompile-{kind}")
    assert said in finding.sentence
    assert finding.first_call == 1


def test_the_line_of_a_guard_is_the_users_own(arm: Arm) -> None:
    finding = of(arm, "answered")
    assert finding.guarded is not None
    assert finding.guarded.line == lines_of("brought.py")["asked"]
