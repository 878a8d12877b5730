"""torch.compile called again and again at one line."""

from __future__ import annotations

from compile_ledger.facts.arm import Arm
from compile_ledger.facts.place import Place
from compile_ledger.judge.stable.compile_in_loop import compiled_in_loop
from compile_ledger.judge.view import look

from . import make


def wrapped(times: int, *, one_line: bool = True, target: str = "encode") -> Arm:
    regions = tuple(
        make.region(i, target, site=Place("serve.py", 5 if one_line else 5 + i))
        for i in range(times)
    )
    calls = tuple(c for i in range(times) for c in make.calls(".." if i else "c.", i))
    codes, compiles = (make.code(),), (make.compile_at(0),)
    return make.arm("capture", regions=regions, code_objects=codes, calls=calls, compiles=compiles)


def test_many_regions_of_one_line_are_one_note_with_their_calls_and_compiles() -> None:
    (note,) = compiled_in_loop(look(wrapped(6)))
    assert (note.slug, note.severity, note.count) == ("compile-in-loop", "note", 6)
    assert "torch.compile(encode) was called 6 times at one line: 12 calls" in note.sentence
    assert "1 compile;" in note.sentence
    assert note.sentence.endswith("one region would serve them")
    assert note.site == make.SITE


def test_closures_of_one_name_may_differ() -> None:
    (note,) = compiled_in_loop(look(wrapped(6, target="make.<locals>.encode")))
    assert note.sentence.endswith("those that are the same object (not told apart here)")


def test_a_few_regions_of_one_line_are_no_note() -> None:
    assert not list(compiled_in_loop(look(wrapped(3))))


def test_regions_of_different_lines_are_no_note() -> None:
    assert not list(compiled_in_loop(look(wrapped(6, one_line=False))))
