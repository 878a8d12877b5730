"""A rule: a pattern of text, and the guard failure that it means."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from .failure import GuardFailure

Build = Callable[[re.Match[str]], GuardFailure]


@dataclass(frozen=True, slots=True)
class Rule:
    """One pattern over a cleaned text; the first rule that matches decides."""

    pattern: re.Pattern[str]
    build: Build


def rule(pattern: str, build: Build) -> Rule:
    """Make a rule whose pattern must match the whole text."""
    return Rule(re.compile(rf"(?:{pattern})\Z", re.DOTALL), build)


def named(
    kind: str, *, subject: str = "", expected: str = "", actual: str = "", detail: str = ""
) -> Build:
    """Build from the pattern's named groups; the arguments stand in for absent ones."""

    def build(match: re.Match[str]) -> GuardFailure:
        got = {name: value or "" for name, value in match.groupdict().items()}
        axis = got.get("axis", "")
        return GuardFailure(
            kind,
            subject=got.get("subject") or subject,
            axis=int(axis) if axis else None,
            expected=got.get("expected") or expected,
            actual=got.get("actual") or actual,
            detail=got.get("detail") or detail,
        )

    return build


def presence(kind: str) -> Build:
    """Build for ``[not] contains``: expected and actual are presence and absence."""

    def build(match: re.Match[str]) -> GuardFailure:
        absent = bool(match.group("absent"))
        expected, actual = ("absent", "present") if absent else ("present", "absent")
        detail = match.group("detail").strip("'\"")
        return GuardFailure(kind, match.group("subject"), None, expected, actual, detail)

    return build
