"""The text of a saved guard is a stranger's: it is computed with, never run."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compile_ledger import TensorSpec
from compile_ledger.observe.what_if.expression import UnknownFormError, evaluate

X = {"x": TensorSpec((4, 3)), "n": 3, "xs": [1, 2], "d": {"k": 2.5}}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("4 <= L['x'].size()[0]", True),
        ("2 <= L['x'].size()[0] <= 3", False),
        ("L['x'].size()[1]*L['x'].size()[0] > 20", False),
        ("(L['x'].size()[0] % 2) == 0", True),
        ("L['x'].stride()[0] == L['x'].size()[1]", True),
        ("Eq(Mod(L['n'], 2), 1)", True),
        ("len(L['xs']) == 2", True),
        ("list(dict.keys(L['d']))[0] == 'k'", True),
        ("not ___dict_contains('q', L['d'])", True),
        ("L['d']['k'] == 2.5 and L['n'] != -1", True),
        ("L['n'] is None", False),
    ],
)
def test_forms_that_guards_have(text: str, value: object) -> None:
    assert evaluate(text, X) == value


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').system('true')",
        "L['x'].__class__",
        "L['x'].size.__globals__",
        "().__class__.__bases__",
        "(lambda: 1)()",
        "[a for a in L]",
        "9**9**9",
        "'a' * 10**9",
        "L['nowhere'] == 1",
        "G['torch']",
        "L['x'].size(",
        "open('x')",
        "f'{L}'",
        "a" * 50_000,
        "(" * 5_000,
    ],
)
def test_everything_else_is_unknown(text: str) -> None:
    with pytest.raises(UnknownFormError):
        evaluate(text, X)


@given(st.text(alphabet="L[]'x.()0123456789+-*%<>= andornotlen", max_size=60))
def test_any_text_is_a_value_or_a_known_error(text: str) -> None:
    try:
        evaluate(text, X)
    except (UnknownFormError, KeyError, IndexError, TypeError, ArithmeticError):
        return
