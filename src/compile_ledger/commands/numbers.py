"""Numbers that options take: a wrong one is refused with a sentence."""

from __future__ import annotations

import argparse
import math


def positive(text: str) -> int:
    """A whole number above 0. Raises ``ArgumentTypeError``."""
    try:
        value = int(text)
    except ValueError:
        msg = f"{text} is not a whole number"
        raise argparse.ArgumentTypeError(msg) from None
    if value < 1:
        msg = f"{text} is not a positive number"
        raise argparse.ArgumentTypeError(msg)
    return value


def seconds(text: str) -> float:
    """A finite number above 0. Raises ``ArgumentTypeError``."""
    value = _number(text)
    if not 0 < value < math.inf:
        msg = f"{text} is not a number of seconds above 0"
        raise argparse.ArgumentTypeError(msg)
    return value


def tolerance(text: str) -> float:
    """A finite number, 0 or above. Raises ``ArgumentTypeError``."""
    value = _number(text)
    if not 0 <= value < math.inf:
        msg = f"{text} is no tolerance: give a finite number, 0 or above"
        raise argparse.ArgumentTypeError(msg)
    return value


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        msg = f"{text} is not a number"
        raise argparse.ArgumentTypeError(msg) from None
