"""Rules for guards on values: Python constants, and relations between symbols."""

from __future__ import annotations

import re

from .failure import GuardFailure, Scope
from .rules import Rule, named, rule

_SYMBOL = r"(?:\.size\(\)\[\d+\]|\.stride\(\)\[\d+\]|\.storage_offset\(\))"
_NAME = r"[\w\.\[\]'\"]+"
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|[+-]?inf", re.IGNORECASE)
_INT = re.compile(r"[+-]?\d+")
_COMPLEX = re.compile(r"\(?[+-]?[\d.]+(?:e[+-]?\d+)?j\)?|\(.*[\d.]j\)")
_SIZE_OF = re.compile(r"\.(?:size|stride|storage_offset|item)\(\)")
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
_KEYWORDS = re.compile(r"\b(?:and|or|not|in|is|if|else)\b")
_PROSE = re.compile(r"[A-Za-z_]\w* [A-Za-z_]\w*")
_ARITHMETIC = re.compile(r"\s[%/*+-]{1,2}\s|\bsize\(\)|^\(?[\w.]+\*[\w.]+")
_LITERALS = (
    (re.compile(r"True|False"), "bool"),
    (re.compile(r"None"), "none"),
    (re.compile(r"b['\"].*", re.DOTALL), "bytes"),
    (re.compile(r"['\"].*", re.DOTALL), "str"),
    (_INT, "int"),
    (_NUMBER, "float"),
    (_COMPLEX, "complex"),
    (re.compile(r"torch\..*"), "dtype"),
    (re.compile(r"device\(.*"), "device"),
    (re.compile(r"(?:frozenset\(|\{).*", re.DOTALL), "set"),
)


def literal_type(value: str) -> str:
    """The Python type of a value as the runtime prints it; ``other`` when unclear."""
    found = (name for pattern, name in _LITERALS if pattern.fullmatch(value))
    return next(found, "other")


def scope_of(subject: str, hint: str = "") -> Scope:
    """Where the program keeps what the guard looks at."""
    if subject.startswith("G["):
        return "global"
    if ".__closure__" in subject or "cell_contents" in subject or hint.startswith("guard on"):
        return "closure"
    if ".__defaults__" in subject or ".__kwdefaults__" in subject:
        return "default"
    plain = _SIZE_OF.sub("", subject)
    return "attribute" if re.search(r"\w\.[A-Za-z_]|__dict__", plain) else "argument"


_KINDS = {"int": "int", "float": "float", "bool": "bool", "str": "str", "none": "none"}


def _equals(match: re.Match[str]) -> GuardFailure:
    subject, value = match.group("subject"), match.group("expected")
    if _ARITHMETIC.search(subject):
        return GuardFailure("relation", subject=subject, detail=match.group(0), expected="true")
    name = literal_type(value)
    kind = f"constant-{_KINDS[name]}" if name in _KINDS else "constant"
    return GuardFailure(kind, subject=subject, expected=value, detail=name)


def _relation(match: re.Match[str]) -> GuardFailure:
    text = match.group(0)
    subject = match.groupdict().get("subject") or text
    return GuardFailure("relation", subject, expected="true", actual="false", detail=text)


def is_prose(body: str) -> bool:
    """True for sentences: whatever sign they hold, they are no guard."""
    return bool(_PROSE.search(_KEYWORDS.sub(",", _QUOTED.sub("''", body))))


RULES: tuple[Rule, ...] = (
    rule(
        r"\(type\((?P<subject>.+?)\) is float and __math_isnan\(.*\)\)",
        named("constant-nan", expected="nan"),
    ),
    rule(r"__math_isnan\((?P<subject>.+)\)", named("constant-nan", expected="nan")),
    rule(
        r"(?P<subject>.+) is None",
        named("constant-none", expected="None", actual="not None"),
    ),
    rule(
        r"(?P<subject>.+) is not None",
        named("constant-none", expected="not None", actual="None"),
    ),
    rule(
        r"(?P<subject>[^\s(){}]+)\.size\(\)\[(?P<axis>\d+)\] == (?P<expected>\d+)",
        named("size", detail="specialised"),
    ),
    rule(rf"(?=.*{_SYMBOL}).+? (?:==|!=|<=|>=|<|>) .+", _relation),
    rule(rf"-?[\d.]+ <=? (?P<subject>{_NAME})(?: <=? -?[\d.]+)?", _relation),
    rule(rf"(?P<subject>{_NAME}) (?:<=|<|>=|>|!=) -?[\d.]+", _relation),
    rule(r"(?:Eq|Ne|Lt|Le|Gt|Ge)\((?P<subject>.+), .+\)", _relation),
    rule(r"(?P<subject>.+?) == (?P<expected>.+)", _equals),
    rule(r".+? (?:!=|<=|>=|<|>) .+", _relation),
)
