"""What torch's message says of a marked dimension, and of the user's line."""

from __future__ import annotations

import dataclasses

import pytest

from compile_ledger.facts.arm import Arm
from compile_ledger.facts.place import Place, Raised
from compile_ledger.judge.captured.break_words import worded
from compile_ledger.judge.correct.level import judge_correct
from compile_ledger.judge.runs.constraint import told_place, violated
from compile_ledger.judge.runs.level import judge_runs

from . import make

FIXED = """Constraints violated (L['targets'].size()[0])! For more information, run with ...
  - You marked L['targets'].size()[0] as dynamic but your code specialized it to be a constant \
(12). If you're using mark_dynamic, either remove it or use maybe_mark_dynamic.

User stack:
  File "/app/serve.py", line 9, in chunk_loss
    return F.cross_entropy(logits, targets)
           ^^^^^^^^^^^^^^^
"""
GUARDED = """Constraints violated (L['x'].size()[1])! For more information, run with ...
  - Not all values of RelaxedUnspecConstraint(L['x'].size()[1]) are valid because \
L['x'].size()[1] was inferred to be a constant (3)."""
RANGE = """Constraints violated (s0)! For more information, run with ...
  - Not all values of s0 = L['x'].size()[0] in the specified range satisfy the generated guard \
L['x'].size()[0] % 8 == 0."""


def raising(message: str) -> Arm:
    """The capture arm: its first call raises, its inputs are as large as one another."""
    raised = Raised("torch.fx.experimental.symbolic_shapes.ConstraintViolationError", message)
    first, *rest = make.calls("c...")
    sizes = {"logits": (12, 11), "targets": (12,)}
    bad = dataclasses.replace(first, disposition="raised", raised=raised, sizes=sizes)
    return make.healthy(calls=(bad, *rest))


def test_the_marked_dimension_is_named_with_the_size_that_the_code_fixes() -> None:
    found = judge_runs(make.arms(make.eager(4), raising(FIXED)), make.EAGER_BACKEND)
    (finding,) = found.findings
    assert (finding.subject, finding.axis, finding.actual) == ("targets", 0, "12")
    assert finding.first_call == 0
    assert (
        "targets is marked dynamic on axis 0, but the code fixes it at 12 "
        "(logits axis 0 is as large) at /app/serve.py:9" in finding.sentence
    )
    assert finding.site == Place("/app/serve.py", 9, "chunk_loss")


def test_a_relation_that_the_code_needs_is_quoted() -> None:
    found = violated(Raised("ConstraintViolationError", RANGE))
    assert found is not None
    assert found.words == "x is marked dynamic on axis 0, but the code needs x.size()[0] % 8 == 0"


@pytest.mark.parametrize("message", ["", "shape 3", GUARDED])
def test_a_message_in_other_words_is_left_as_it_is(message: str) -> None:
    assert violated(Raised("ValueError", message)) is None
    assert violated(None) is None


def test_the_users_line_is_the_innermost_that_is_not_a_librarys() -> None:
    message = """AttributeError: no attribute '__dict__'

from user code:
   File "/app/train.py", line 20, in step
    self.record(loss)
  File "/app/train.py", line 15, in record
    inspect.getfullargspec(self.step)
  File "/usr/lib/python3.11/inspect.py", line 2474, in _signature_from_callable
    sig = obj.__signature__
  File "/venv/lib/python3.11/site-packages/torch/nn/module.py", line 1, in call
"""
    assert told_place(Raised("InternalTorchDynamoError", message)) == Place(
        "/app/train.py", 15, "record"
    )
    assert told_place(Raised("ValueError", 'File "/app/train.py", line 1, in f')) is None


def test_calls_that_raised_are_a_matter_of_runs_and_not_of_correct() -> None:
    leaves = (make.agree(), make.agree("exception", "differs", why="eager: no exception"))
    arm = make.healthy(agreements=leaves)
    found = judge_correct(make.arms(make.eager(), arm), make.EAGER_BACKEND)
    assert found.level.status == "not_measured"
    assert found.level.why.startswith("1 call could not be compared: eager and compiled code diff")


@pytest.mark.parametrize(
    ("explanation", "said"),
    [
        (
            "Explanation: Dynamo does not know how to trace the builtin `time.perf_counter.` This",
            "Attempted to call function marked as skipped: time.perf_counter",
        ),
        ("Explanation: it says `nothing here`.", "Attempted to call function marked as skipped"),
        ("", "Attempted to call function marked as skipped"),
    ],
)
def test_a_break_names_the_function_that_it_met(explanation: str, said: str) -> None:
    assert worded(f"Attempted to call function marked as skipped\n  {explanation}") == said
