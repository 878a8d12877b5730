"""Names of the runtime's in sentences."""

import pytest

from compile_ledger.judge.program_names import as_program_says


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
        ("forward", "forward"),
    ],
)
def test_what_only_the_runtime_names_is_said_as_the_program_does(text: str, said: str) -> None:
    assert as_program_says(text) == said
