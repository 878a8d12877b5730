"""Rules for guards on Python objects: identity, type, containers, attributes, iterators."""

from __future__ import annotations

from .rules import Rule, named, presence, rule

RULES: tuple[Rule, ...] = (
    rule(
        r"___check_type_id\((?P<subject>.+), (?P<detail>\d+)\)(?:, type=(?P<expected>.+))?",
        named("type"),
    ),
    rule(r"TYPE_MISMATCH\((?P<subject>.+)\)", named("type", detail="dict")),
    rule(
        r"___check_obj_id\((?P<subject>.+)\.__code__, (?P<detail>\d+)\)(?:, type=.+)?",
        named("function-code", expected="another function"),
    ),
    rule(
        r"___check_obj_id\((?P<subject>.+), (?P<detail>\d+)\)(?:, type=(?P<expected>.+))?",
        named("identity"),
    ),
    rule(
        r"(?P<subject>[\w\[\]\.'\"()]+) is (?P<detail>(?!None\Z)[\w\[\]\.'\"()]+)",
        named("aliasing", expected="one object", actual="distinct objects"),
    ),
    rule(r"len\((?P<subject>.+)\) (?:==|!=) (?P<expected>\d+)", named("length")),
    rule(
        r"not (?P<subject>(?!hasattr|___dict_contains|set\.)[^\s()]+)",
        named("length", expected="0", actual="more"),
    ),
    rule(
        r"(?P<absent>not )?___dict_contains\((?P<detail>.+?), (?P<subject>.+)\)",
        presence("dict-keys"),
    ),
    rule(
        r"(?P<absent>not )?set\.__contains__\((?P<subject>.+), (?P<detail>.+)\)",
        presence("set-elements"),
    ),
    rule(
        r"list\((?:dict\.keys\()?(?P<subject>[^()]+?)(?:\.keys\()?\)\)\[(?P<detail>\d+)\] == "
        r"(?P<expected>.+)",
        named("dict-keys"),
    ),
    rule(
        r"list\((?:dict\.keys\()?(?P<subject>[^()]+?)(?:\.keys\()?\)\) == (?P<expected>.+)",
        named("dict-keys"),
    ),
    rule(
        r"(?P<absent>not )?hasattr\((?P<subject>.+), (?P<detail>'.+')\)(?: == True)?",
        presence("hasattr"),
    ),
    rule(
        r"hasattr\((?P<subject>.+), '(?P<detail>.+)'\) == False",
        named("hasattr", expected="absent", actual="present"),
    ),
    rule(
        r"getattr failed on source (?P<subject>.+)",
        named("access", expected="present", actual="missing", detail="attribute"),
    ),
    rule(
        r"(?P<detail>\w+Error) on (?P<subject>.+)",
        named("access", expected="present", actual="missing"),
    ),
    rule(
        r"___normalize_range_iter\((?P<subject>.+)\) == (?P<expected>.+)",
        named("iterator", detail="range"),
    ),
    rule(
        r"___normalize_count_iter\((?P<subject>.+)\) == (?P<expected>.+)",
        named("iterator", detail="count"),
    ),
    rule(
        r"___tuple_iterator_len\((?P<subject>.+)\) == (?P<expected>.+)",
        named("iterator", detail="tuple"),
    ),
)
