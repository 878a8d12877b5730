"""Rules for guards on tensors: size, stride, rank, dtype, keys, type, marks, aliasing."""

from __future__ import annotations

import re

from .failure import GuardFailure
from .rules import Rule, named, rule

_TENSOR = r"tensor '(?P<subject>.+?)' "
_NEXT = r"expected (?P<expected>.+?), actual (?P<actual>.+?)\.?"


def _requires_grad(match: re.Match[str]) -> GuardFailure:
    wanted = match.group("expected") in ("1", "True")
    subject = match.group("subject")
    return GuardFailure(
        "requires-grad", subject=subject, expected=str(wanted), actual=str(not wanted)
    )


RULES: tuple[Rule, ...] = (
    rule(_TENSOR + r"size mismatch at index (?P<axis>\d+)\. " + _NEXT, named("size")),
    rule(_TENSOR + r"stride mismatch at index (?P<axis>\d+)\. " + _NEXT, named("stride")),
    rule(_TENSOR + r"rank mismatch\. " + _NEXT, named("rank")),
    rule(_TENSOR + r"dtype mismatch\. " + _NEXT, named("dtype")),
    rule(
        _TENSOR + r"dispatch key set mismatch\. expected (?P<expected>DispatchKeySet\(.*?\)), "
        r"actual (?P<actual>DispatchKeySet\(.*?\))",
        named("dispatch-keys"),
    ),
    rule(
        _TENSOR + r"requires_grad mismatch\. expected requires_grad=(?P<expected>\w+)\.?",
        _requires_grad,
    ),
    rule(
        _TENSOR + r"(?:Tensor )?device index mismatch\. Expected device index to be "
        r"(?P<expected>.+?), actual (?P<actual>.+?)\.?",
        named("device"),
    ),
    rule(_TENSOR + r"(?P<detail>[\w ]+) mismatch\. " + _NEXT, named("tensor-type")),
    rule(
        r"expected type of '(?P<subject>.+?)' to be a tensor type, ' but found (?P<actual>.+)",
        named("tensor-type", expected="a tensor"),
    ),
    rule(
        r"expected type of '(?P<subject>.+?)' to be (?P<expected><class .+?>), "
        r"but found (?P<actual>.+)",
        named("tensor-type"),
    ),
    rule(
        r"Duplicate tensors? found(?: where not expected!)?:?(?: (?P<subject>\[.*\]))?.*",
        named("aliasing", expected="distinct objects", actual="one object"),
    ),
    rule(
        r"check_overlapping\((?P<subject>overlapping=.*, non_overlapping=.*)\)",
        named("aliasing", expected="this overlap", actual="another overlap"),
    ),
    rule(
        r"_has_dynamo_dim_marking is present on runtime tensor but was absent at compile time",
        named("dim-marking", expected="no marks", actual="marks", detail="marked"),
    ),
    rule(
        r"(?P<detail>_dynamo_\w+) not a subset: runtime (?P<actual>.*) is not a subset of "
        r"compiled (?P<expected>.*)",
        named("dim-marking"),
    ),
    rule(
        r"hasattr\((?P<subject>.+), '(?P<detail>_dynamo_\w+)'\) == False",
        named("dim-marking", expected="absent", actual="present"),
    ),
    rule(
        r"\(\((?P<subject>.+)\.(?P<detail>_dynamo_\w+_indices)\.issubset\("
        r"(?P<expected>.+?)\)\) if hasattr\(.*",
        named("dim-marking"),
    ),
)
