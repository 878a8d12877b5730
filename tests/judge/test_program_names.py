"""Names of the runtime's in sentences."""

import pytest

from compile_ledger.judge.ledger import judge
from compile_ledger.judge.program_names import (
    as_program_says,
    frame_name,
    with_values_named,
)

from . import make


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("skipped torch_dynamo_resume_in_f_at_16,", "skipped the rest of f after line 16,"),
        ("torch_dynamo_resume_in_my_at_step_at_7", "the rest of my_at_step after line 7"),
        ("<resume in forward>", "the rest of forward"),
        (
            "(___stack0, left by a graph break, axis 0)",
            "(a value that the line of a graph break left, axis 0)",
        ),
        ("KeyError: ___stack0", "KeyError: a value that the line of a graph break left"),
        ("(L['___stack1'])", "(a value that the line of a graph break left)"),
        ("forward", "forward"),
    ],
)
def test_what_only_the_runtime_names_is_said_as_the_program_does(text: str, said: str) -> None:
    assert as_program_says(text) == said


@pytest.mark.parametrize(
    ("name", "file", "targets", "said"),
    [
        ("inner", "/lib/torch/_dynamo/external_utils.py", ("Net",), "torch's wrapper of Net"),
        ("inner", "/app/external_utils.py", ("Net",), "inner"),
        ("torch_dynamo_resume_in_f_at_16", "/app/a.py", ("f",), "the rest of f after line 16"),
        ("f", "/app/a.py", ("f",), "f"),
    ],
)
def test_a_frame_has_the_name_of_what_it_wraps_or_continues(
    name: str, file: str, targets: tuple[str, ...], said: str
) -> None:
    assert frame_name(name, file, targets) == said


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("y = x[mask]", "the result of `x[mask]` at serve.py:16"),
        ("mask.nonzero()", "the result of `mask.nonzero()` at serve.py:16"),
        ("return x * random()", "a value of `return x * random()` at serve.py:16"),
        ("for x in range(3):", "a value of `for x in range(3):` at serve.py:16"),
        ("", "a value that serve.py:16 left"),
    ],
)
def test_what_a_break_left_is_named_by_the_line_that_made_it(source: str, said: str) -> None:
    rest = make.code(1, "torch_dynamo_resume_in_encode_at_16", resume_of="encode")
    events = [make.compile_at(0), make.compile_at(0, code_object=1)]
    events += [
        make.compile_at(
            call, "recompiled", make.size("___stack0", 0, 3 + call, 4 + call), code_object=1
        )
        for call in range(1, 6)
    ]
    arm = make.healthy(
        calls=make.calls("crrrrr"), compiles=tuple(events), code_objects=(make.code(0), rest)
    )
    ledger = judge(make.arms(arm), make.INDUCTOR, tool_version="1")
    named = with_values_named(ledger, lambda place: source if place.line == 16 else "")
    (finding,) = named.findings
    assert said in finding.sentence
    assert said in next(one.why for one in named.levels if one.level == "STABLE")
    assert "___stack" not in named.verdict
    assert ledger.code_objects[1].name == rest.name
