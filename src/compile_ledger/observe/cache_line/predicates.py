"""Takes a guard's text apart: predicate, expected value, line of source, hint."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from functools import lru_cache

from compile_ledger.facts.guard import TensorAssumption
from compile_ledger.facts.place import Place

_UNKNOWN_SOURCE = re.compile(r"\s+# \(unknown source.*$", re.DOTALL)
_HINT = re.compile(r"\s*\(HINT: (.*)\)\s*$", re.DOTALL)
_WHERE = re.compile(r"\s+#\s(?:(?P<line>.*?)\s+#\s)?(?P<file>\S+):(?P<number>\d+) in (?P<name>\S+)")
_DUCK = re.compile(r"\s+# duck sizing .*$", re.DOTALL)
_COMPILER = ("_dynamo/", "_functorch/", "_inductor/", "_subclasses/", "_higher_order_ops/")
_TENSOR = re.compile(
    r"check_tensor\((?P<source>.*), (?P<type>[\w.]+), DispatchKeySet\((?P<keys>[^)]*)\), "
    r"(?P<dtype>torch\.\w+), device=(?P<device>[^,]+), requires_grad=(?P<grad>\w+), "
    r"size=(?P<size>\[.*?\]), stride=(?P<stride>\[.*?\])\)"
)
_FORMS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"___check_type_id\(.*, \d+\)(?:, type=(?P<e>.*))?$"), "type is"),
    (re.compile(r"___check_obj_id\(.*, \d+\)(?:, type=(?P<e>.*))?$"), "id is"),
    (re.compile(r"not ___dict_contains\((?P<e>.*?), .*\)$"), "has no key"),
    (re.compile(r"___dict_contains\((?P<e>.*?), .*\)$"), "has key"),
    (re.compile(r"not set\.__contains__\(.*, (?P<e>.*)\)$"), "has no element"),
    (re.compile(r"set\.__contains__\(.*, (?P<e>.*)\)$"), "has element"),
    (re.compile(r"not hasattr\(.*, '(?P<e>.*)'\)$"), "has no attribute"),
    (re.compile(r"hasattr\(.*, '(?P<e>.*)'\) == False$"), "has no attribute"),
    (re.compile(r"hasattr\(.*, '(?P<e>.*)'\)(?: == True)?$"), "has attribute"),
    (re.compile(r"len\(.*\) == (?P<e>\d+)$"), "len =="),
    (re.compile(r"___check_global_state\(\)(?: against (?P<e>.*))?$"), "global state"),
    (re.compile(r"check_no_aliasing\((?P<e>.*)\)$"), "are distinct"),
    (re.compile(r"(?:\S+) (?P<op>is not|is|==|!=|<=|>=|<|>) (?P<e>.*)$"), ""),
)


@dataclass(frozen=True, slots=True)
class Parsed:
    """The parts of one text."""

    text: str
    predicate: str
    expected: str
    user_line: str = ""
    place: Place | None = None
    hint: str = ""
    tensor: TensorAssumption | None = None


@lru_cache(maxsize=16384)
def parse(raw: str) -> Parsed:
    """Take one text of ``verbose_code_parts`` apart."""
    body, hint = _cut(_HINT, _DUCK.sub("", _UNKNOWN_SOURCE.sub("", raw)))
    where = _WHERE.search(body)
    text = (body[: where.start()] if where else body).strip()
    line, place = _users(where)
    assumed = _tensor(text)
    predicate, expected = ("tensor", worded(assumed)) if assumed else _predicate(text)
    return Parsed(text, predicate, expected, line, place, hint, assumed)


def _cut(pattern: re.Pattern[str], text: str) -> tuple[str, str]:
    match = pattern.search(text)
    return (text[: match.start()], match.group(1)) if match else (text, "")


def _users(where: re.Match[str] | None) -> tuple[str, Place | None]:
    """The line of the user's that made the guard; none where the compiler made it."""
    if where is None or where.group("file").startswith(_COMPILER):
        return "", None
    place = Place(where.group("file"), int(where.group("number")), where.group("name"))
    return (where.group("line") or "").strip(), place


def _predicate(text: str) -> tuple[str, str]:
    for pattern, name in _FORMS:
        match = pattern.match(text)
        if match:
            groups = match.groupdict()
            return name or groups["op"], groups["e"] or ""
    return "expr", text


def _tensor(text: str) -> TensorAssumption | None:
    match = _TENSOR.match(text)
    if match is None:
        return None
    device = match.group("device")
    try:
        return TensorAssumption(
            type=match.group("type"),
            dispatch_keys=tuple(match.group("keys").split(", ")),
            dtype=match.group("dtype"),
            device_index=None if device == "None" else int(device),
            requires_grad=match.group("grad") == "True",
            size=tuple(ast.literal_eval(match.group("size"))),
            stride=tuple(ast.literal_eval(match.group("stride"))),
        )
    except (ValueError, SyntaxError):
        return None


def worded(assumed: TensorAssumption) -> str:
    """A tensor's assumptions in one line."""
    grad = ", requires_grad" if assumed.requires_grad else ""
    size, stride = shown(assumed.size), shown(assumed.stride)
    return f"{assumed.dtype} size {size} stride {stride}{grad}"


def shown(numbers: tuple[int | None, ...]) -> str:
    """A size or stride; ``*`` where any value will do."""
    return "[" + ", ".join("*" if n is None else str(n) for n in numbers) + "]"
