"""What broke a graph, by the texts of several versions of torch."""

import pytest

from compile_ledger.facts.graph_break import GraphBreak
from compile_ledger.judge.captured.break_kinds import (
    SCALARS,
    SHAPES,
    functions_of,
    kind_of,
    removal,
)

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
