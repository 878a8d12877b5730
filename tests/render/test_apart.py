"""What tells two entries apart is shown, whatever else is folded."""

from __future__ import annotations

from compile_ledger.facts.cache_line import CodeLine, Entry
from compile_ledger.facts.guard import Guard
from compile_ledger.observe.cache_line.fold import Room, fold
from compile_ledger.render.cache_line_rows import line_rows


def equals(source: str, value: str) -> Guard:
    return Guard(source, "EQUALS_MATCH", "==", value, f"{source} == {value}")


def entry(number: int, **values: str) -> Entry:
    guards = tuple(equals(f"L['{name}']", value) for name, value in values.items())
    return Entry(f"0/{number}", guards=guards)


def shown(*entries: Entry) -> list[list[str]]:
    line = CodeLine("f", "a.py", 1, entries=entries)
    return [[one.text for one in rows.shown[: rows.apart]] for rows in line_rows(line).entries]


def test_each_guard_that_alone_tells_an_entry_from_another_is_kept() -> None:
    first, second, third = shown(
        entry(0, a="1", b="1", c="1", d="1"),
        entry(1, a="1", b="1", c="1", d="2"),
        entry(2, a="2", b="1", c="1", d="1"),
    )
    assert first == ["a == 1", "d == 1"]
    assert second == ["d == 2"]
    assert third == ["a == 2"]


def test_one_guard_that_tells_all_entries_apart_is_enough() -> None:
    found = shown(*(entry(i, a=str(i % 2), scale=str(i)) for i in range(3)))
    assert [len(texts) for texts in found] == [1, 1, 1]
    assert found[0] == ["scale == 0"]


def test_a_saved_line_keeps_the_one_guard_that_a_hundred_others_would_push_out() -> None:
    def held(mode: str, scale: str) -> Entry:
        flags = [equals(f"L['self']._modules['{i}'].training", mode) for i in range(100)]
        return Entry(f"0/{mode}{scale}", guards=(*flags, equals("L['self'].scale", scale)))

    line = fold(
        CodeLine("f", "a.py", 1, entries=(held("T", "1"), held("F", "1"), held("T", "2"))), Room()
    )
    assert all(any("scale" in g.text for g in entry.guards) for entry in line.entries)
