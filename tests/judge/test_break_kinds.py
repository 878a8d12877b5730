"""What broke a graph, by the texts of several versions of torch."""

import pytest

from compile_ledger.facts.graph_break import GraphBreak
from compile_ledger.facts.place import Place
from compile_ledger.judge.captured.break_kinds import (
    AUTOGRAD,
    SCALARS,
    SHAPES,
    cures,
    functions_of,
    kind_of,
    removal,
)
from compile_ledger.judge.captured.break_rows import break_rows
from compile_ledger.judge.captured.break_words import reason_of
from compile_ledger.judge.captured.level import judge_captured
from compile_ledger.judge.view import look

from . import make

HINT = "Hint: If it is a logging function (e.g. `_warnings.warn`), you can try adding it."


@pytest.mark.parametrize(
    ("reason", "explanation", "kind", "setting"),
    [
        ("Unsupported Tensor.item() call with capture_scalar_outputs=False", "", "scalar", SCALARS),
        ("Tensor.item", "", "scalar", SCALARS),
        ("Data dependent operator", "`aten._local_scalar_dense.default`", "scalar", SCALARS),
        ("Dynamic shape operator", "Operator `aten.nonzero.default`'s", "dynamic-shape", SHAPES),
        ("dynamic shape operator: aten.nonzero.default", "", "dynamic-shape", SHAPES),
        ("Dynamic shape operator (no meta kernel)", "", "other", ""),
        ("generic_jump TensorVariable()", "", "branch", ""),
        ("Data-dependent branching", "", "branch", ""),
        ("Call to `torch._dynamo.graph_break()`", "User-inserted", "requested", ""),
        ("Skip calling `torch.compiler.disable()`d function", "", "disabled", ""),
        ("attempted to trace numpy function unsupported by PyTorch", "", "numpy", ""),
        ("Unsupported context manager", "", "context", ""),
        ("call function marked as skipped", f"perf_counter\n  {HINT}", "foreign-call", ""),
        ("call", "builtin `time.perf_counter.` (e.g. _warnings.warn)", "foreign-call", ""),
        ("Unsupported Tensor.backward()", "trace_autograd_ops is off", "backward", AUTOGRAD),
        ("Tensor.backward", "", "backward", ""),
        ("something new", "", "other", ""),
    ],
)  # fmt: skip
def test_kinds_and_the_setting_that_could_capture_them(
    reason: str, explanation: str, kind: str, setting: str
) -> None:
    found = kind_of(GraphBreak(reason, explanation=explanation))
    assert (found.name, found.setting) == (kind, setting)
    assert found.edit


@pytest.mark.parametrize(
    ("reason", "explanation", "function"),
    [
        ("Failed to trace builtin operator", "builtin operator `print` with", "builtins.print"),
        ("builtin: print [<class 'ConstantVariable'>] False", "", "builtins.print"),
        ("call function marked as skipped", "builtin `_warnings.warn`.", "warnings.warn"),
        (
            "logging.Logger method not supported for non-export cases",
            "context: method: <Logger toy (WARNING)>.warning, args: []",
            "logging.Logger.warning",
        ),
    ],
)  # fmt: skip
def test_a_logging_call_names_its_function(reason: str, explanation: str, function: str) -> None:
    assert functions_of(GraphBreak(reason, explanation=explanation)) == (function,)


def test_a_part_of_the_logging_module_stands_for_all_that_log() -> None:
    inside = GraphBreak(
        "Unsupported python_type() call", explanation="GetAttrVariable(LoggingLoggerVariable(), x)"
    )
    assert {"logging.info", "logging.Logger.info"} <= set(functions_of(inside))
    assert functions_of(GraphBreak("Data-dependent branching")) == ()


def test_what_no_setting_captures_names_the_edit() -> None:
    branch = removal(GraphBreak("Data-dependent branching"))
    assert branch.startswith("no setting captures it; an edit: compute both sides")
    assert "torch.where" in branch
    item = removal(GraphBreak("Tensor.item"))
    assert item.startswith("torch._dynamo.config.capture_scalar_outputs = True could")


def test_a_call_that_can_be_moved_is_moved_before_it_is_left_out() -> None:
    said = removal(GraphBreak("builtin: print []"))
    assert said.startswith("torch._dynamo.config.reorderable_logging_functions = {print} could")
    tested = removal(GraphBreak("builtin: print []"), "X = {print} removed it")
    assert tested.startswith("X = {print} removed it; or an edit: return the value")


def told(explanation: str, reason: str = "Unsupported call") -> GraphBreak:
    return GraphBreak(reason, explanation=explanation)


def test_the_settings_that_a_message_names_are_read_from_it() -> None:
    hints = (
        "Hint: Set `torch._dynamo.config.capture_scalar_outputs = True` or "
        "`export TORCHDYNAMO_CAPTURE_SCALAR_OUTPUTS=1` to include them\n"
        "Hint: Set torch._dynamo.config.allow_rnn=True to enable it\n"
        "Hint: turn it off with torch._dynamo.config.optimize_ddp=False.\n"
        "Hint: torch._dynamo.config.suppress_errors = True shows less\n"
        "Hint: add it to `torch._dynamo.config.reorderable_logging_functions`"
    )
    assert cures(told(hints)) == {
        "capture_scalar_outputs": True,
        "allow_rnn": True,
        "optimize_ddp": False,
    }
    assert "optimize_ddp = False could" in removal(told("torch._dynamo.config.optimize_ddp=False"))


def test_that_no_setting_helps_is_said_only_where_it_was_established() -> None:
    assert "no setting captures it" not in removal(told(""))
    assert "torch's message names no setting for it" in removal(told(""))
    assert "no setting captures it" in removal(told("Hint: This graph break is fundamental - it"))
    branch = told("torch._dynamo.config.capture_scalar_outputs = True", "Data-dependent branching")
    assert cures(branch) == {}


def test_a_break_says_what_python_runs_because_of_it() -> None:
    found = GraphBreak("Tensor.item", block="try", left="frame")
    assert reason_of(found) == "Tensor.item (in a try block: the whole frame is skipped)"
    found = GraphBreak("Tensor.item", left="rest", rest_from=7)
    assert reason_of(found).endswith("(the rest of the frame is not compiled, from line 7 on)")
    found = GraphBreak("Tensor.item", operator="torch.utils.checkpoint.checkpoint")
    assert "in a call of torch.utils.checkpoint.checkpoint" in reason_of(found)


def test_what_only_the_context_names_is_named() -> None:
    context = "Developer debug context: method: <Logger app (INFO)>.warning_once, args: []"
    found = told(context, "logging.Logger method not supported")
    assert reason_of(found).endswith(": Logger.warning_once")
    assert functions_of(found) == ("logging.Logger.warning_once",)
    met = "Explanation: Skip calling function `<function show at 0x7fe3>` since it was wrapped"
    assert reason_of(told(met, "Skip calling a disabled function")).endswith(": show")
    met = "Explanation: Dynamo does not know the builtin `<unknown module>.Random.random.` This"
    assert reason_of(told(met, "marked as skipped")) == "marked as skipped: Random.random"
    assert reason_of(told("x\nDeveloper debug context: GRU(4, 16)", "RNN")) == "RNN: GRU"


def test_a_break_that_moves_is_not_called_removed() -> None:
    here, there = Place("serve.py", 12), Place("serve.py", 20)
    item, branch = GraphBreak("Tensor.item", (here,)), GraphBreak("Tensor.tolist", (there,))
    calls = make.calls("c...", graphs=2)
    before = make.healthy(compiles=(make.compile_at(0, breaks=(item,)),), calls=calls)
    change = "torch._dynamo.config.capture_scalar_outputs = True"
    moved = make.compile_at(0, breaks=(branch,))
    after = make.healthy("experiment:x", change=change, compiles=(moved,), calls=calls)
    row = break_rows(look(before), make.arms(before, after))[0]
    assert row.removal.startswith(f"{change} moves it to line 20;")


def test_a_break_inside_the_logging_package_comes_with_a_log_call() -> None:
    inside = Place("/usr/lib/python3.11/logging/__init__.py", 297)
    found = GraphBreak("Attempted to call function marked as skipped", (inside,))
    assert functions_of(found) == ()
    assert removal(found).startswith("it comes with a log call")
    users = GraphBreak("Attempted to call function marked as skipped", (Place("logging/a.py", 2),))
    assert kind_of(users).name == "foreign-call"


def test_a_backward_call_is_to_be_made_outside() -> None:
    assert removal(GraphBreak("Tensor.backward")).endswith("call backward() outside the region")


OPTIMIZER = Place("/env/lib/python3.11/site-packages/torch/optim/optimizer.py", 79)
REQUESTED = "Call to `torch._dynamo.graph_break()`"


def rows(*stack: Place, root: str = "serve.py") -> str:
    """What is said of one requested break of a region whose function is in ``root``."""
    broken = GraphBreak(REQUESTED, stack)
    codes = (make.code(0, file=root), make.code(1, file=OPTIMIZER.file, library=True))
    arm = make.healthy(code_objects=codes, compiles=(make.compile_at(0, breaks=(broken,)),))
    (row,) = break_rows(look(arm))
    return row.removal


def test_a_line_of_a_library_is_not_the_users_to_edit() -> None:
    assert "keep your call that leads to this library code outside" in rows(OPTIMIZER)
    assert "keep the call at serve.py:12 outside" in rows(Place("serve.py", 12), OPTIMIZER)
    assert "calls torch._dynamo.graph_break() itself, take that out" in rows(Place("serve.py", 12))


def test_where_the_region_is_a_librarys_no_call_leads_there() -> None:
    assert "leads to this library code" not in rows(OPTIMIZER, root=OPTIMIZER.file)


def test_an_experiment_that_left_no_break_is_named() -> None:
    broken = GraphBreak("builtin: print []", (Place("serve.py", 12),))
    before = make.healthy(compiles=(make.compile_at(0, breaks=(broken,)),))
    change = "torch._dynamo.config.reorderable_logging_functions = {print}"
    after = make.healthy("experiment:reorder-print", change=change)
    still = make.healthy(
        "experiment:ignore-print", change="ignore_logging_functions", compiles=before.compiles
    )
    (row,) = break_rows(look(before), make.arms(before, still, after))
    assert row.removal.startswith(f"{change} removed it")
    (row,) = break_rows(look(before), make.arms(before, still))
    assert " could; or an edit" in row.removal


def test_a_loop_says_why_one_break_took_the_whole_frame() -> None:
    other = "*** While handling this graph break, another graph break occurred: ***"
    looped = GraphBreak(
        "Tensor.item", explanation=f"Explanation: x\n\n{other}\n\ngraph break in loop"
    )
    assert reason_of(looped) == "Tensor.item (in a loop: the whole frame is skipped)"
    assert reason_of(GraphBreak("Tensor.item", explanation="Explanation: x")) == "Tensor.item"


def test_diagnostics_inside_the_region_are_a_note_of_their_own() -> None:
    broken = GraphBreak("builtin: print []", (Place("serve.py", 12),))
    calls = make.calls("c...", graphs=2)
    arm = make.healthy("capture", compiles=(make.compile_at(0, breaks=(broken,)),), calls=calls)
    findings = judge_captured(make.arms(arm), make.INDUCTOR).findings
    assert [one.slug for one in findings] == ["graph-break", "observer-effect"]
    assert "print at serve.py:12; return the value" in findings[1].sentence
    item = GraphBreak("Tensor.item", (Place("serve.py", 12),))
    arm = make.healthy("capture", compiles=(make.compile_at(0, breaks=(item,)),), calls=calls)
    findings = judge_captured(make.arms(arm), make.INDUCTOR).findings
    assert [one.slug for one in findings] == ["graph-break"]


def test_what_ddp_breaks_on_purpose_is_left_and_its_setting_is_read_from_the_reason() -> None:
    found = GraphBreak(
        "DDPOptimizer intentional graph-break (See Note [DDPOptimizer]). Set "
        "`torch._dynamo.config.optimize_ddp = False` to disable."
    )
    assert kind_of(found).name == "ddp"
    assert cures(found) == {"optimize_ddp": False}
    assert "an edit: leave it: DistributedDataParallel" in removal(found)
