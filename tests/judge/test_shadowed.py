"""A better graph that newer entries keep from being reached."""

from __future__ import annotations

from compile_ledger.facts.arm import Arm
from compile_ledger.facts.calls import Call
from compile_ledger.judge.stable.shadowed import shadowed
from compile_ledger.judge.view import look

from . import make


def call(index: int, graphs: int, entries: tuple[str, ...], verbose: str = "0") -> Call:
    return Call(
        0,
        index,
        "reused",
        graphs=graphs,
        runs=dict.fromkeys(entries, 1),
        sizes={"x": (4,)},
        constants={"verbose": verbose},
    )


def arm(*calls: Call) -> Arm:
    return make.arm("capture", regions=(make.region(),), code_objects=(make.code(),), calls=calls)


def test_same_arguments_that_ran_one_graph_and_then_more_name_both_entries() -> None:
    calls = (call(0, 1, ("0:0/0",)), call(1, 3, ("0:0/1", "1:1/0")), call(2, 3, ("0:0/1",)))
    (found,) = shadowed(look(arm(*calls)))
    assert (found.slug, found.level, found.count) == ("shadowed-entry", "STABLE", 2)
    assert "entry 0/0 is shadowed" in found.sentence
    assert "call 0 ran 1 graph" in found.sentence
    assert "1-2 ran 3 graphs of newer entries (0/1)" in found.sentence


def test_better_entry_that_is_reached_again_is_not_shadowed() -> None:
    calls = (call(0, 1, ("0:0/0",)), call(1, 3, ("0:0/1",)), call(2, 1, ("0:0/0",)))
    assert not list(shadowed(look(arm(*calls))))


def test_other_arguments_prove_nothing() -> None:
    calls = (call(0, 1, ("0:0/0",)), call(1, 3, ("0:0/1",), verbose="1"))
    assert not list(shadowed(look(arm(*calls))))


def test_static_entry_behind_its_dynamic_successor_captures_as_much() -> None:
    calls = (call(0, 1, ("0:0/0",)), call(1, 1, ("0:0/1",)))
    assert not list(shadowed(look(arm(*calls))))
