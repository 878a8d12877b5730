"""Regions that share a line of torch's own code: each fills it, and some never enter it."""

from __future__ import annotations

from compile_ledger.facts.arm import Arm
from compile_ledger.judge.captured.level import judge_captured
from compile_ledger.judge.experiments import reading
from compile_ledger.judge.stable.failures import failures
from compile_ledger.judge.view import look

from . import make

LIMIT = 3


def shared(**fields: object) -> Arm:
    """Five modules of one class, two calls each, on a line of torch's that takes three."""
    regions = tuple(
        make.region(i, "Sequential", kind="module", root=0 if i <= LIMIT else None)
        for i in range(LIMIT + 2)
    )
    patterns = ["c.", *["r."] * (LIMIT - 1), "xf", "ff"]
    compiles = tuple(
        make.compile_at(
            0,
            "refused" if i == LIMIT else "recompiled" if i else "compiled",
            *(f"0/{n}: len(fn._modules) != {n + 1}" for n in reversed(range(i))),
            region=i,
            started_ns=i + 1,
            limit="recompile_limit" if i == LIMIT else "",
            limit_value=LIMIT if i == LIMIT else None,
        )
        for i in range(LIMIT + 1)
    )
    return make.arm(
        "capture",
        **{
            "regions": regions,
            "code_objects": (make.code(0, "inner", file="torch/x.py", library=True),),
            "calls": tuple(c for i, p in enumerate(patterns) for c in make.calls(p, region=i)),
            "compiles": compiles,
            **fields,
        },
    )


def test_instances_of_one_class_share_a_line_of_torchs() -> None:
    found = failures(look(shared()))
    assert found[0].slug == "shared-line"
    assert found[0].sentence == (
        "5 regions (Sequential) share the cache line of inner (torch/x.py:9): 3 entries, "
        "recompile_limit (3) was reached in the first call of the 4th region, "
        "then 3 calls ran eagerly, unannounced"
    )
    assert "len(fn._modules)" in found[0].evidence[1].text


def test_regions_that_only_fell_back_are_counted_on_the_line() -> None:
    arm = shared()
    (first, *_) = failures(look(arm))
    assert first.cost.calls == reading(arm).fell_back
    assert look(arm).regions[LIMIT + 1].root == 0


def test_a_region_whose_line_is_not_known_keeps_none() -> None:
    off = make.calls("ss", region=LIMIT + 1)
    kept = tuple(c for c in shared().calls if c.region <= LIMIT)
    assert look(shared(calls=kept + off)).regions[LIMIT + 1].root is None


def test_a_line_of_the_users_own_names_what_differs() -> None:
    own = shared(code_objects=(make.code(0, "forward"),))
    assert failures(look(own))[0].slug == "recompile-length"


def test_regions_that_others_shut_out_are_not_called_uncounted() -> None:
    found = judge_captured(make.arms(shared()), make.INDUCTOR)
    assert (found.level.status, found.command) == ("not_measured", "")
    assert found.level.why == (
        "2 regions of 5 (Sequential) ran no graph in 4 calls: "
        "other regions had filled the cache line that they share"
    )
