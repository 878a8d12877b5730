"""``expect``: fails loudly with the guard named, and leaves nothing behind."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

import compile_ledger
from compile_ledger import ExpectationFailed, expect


def scale(x: torch.Tensor, by: str = "a") -> torch.Tensor:
    return x * 2 if by == "a" else x * 3


def fragile(x: torch.Tensor, text: str) -> torch.Tensor:
    if text == "bad":
        raise ValueError(text)
    return x * 2


def broken(x: torch.Tensor) -> torch.Tensor:
    x = x + 1
    torch._dynamo.graph_break()
    return x * 2


def warm(program: Callable[..., Any], *args: Any, **options: Any) -> Any:
    compiled = torch.compile(program, backend="eager", **options)
    compiled(*args)
    return compiled


def message(run: Callable[[], Any], **terms: Any) -> str:
    with pytest.raises(ExpectationFailed) as caught, expect(**terms):
        run()
    return str(caught.value)


def test_a_steady_state_passes() -> None:
    compiled = warm(scale, torch.ones(3))
    with expect() as terms:
        for _ in range(5):
            compiled(torch.ones(3))
    assert terms.not_measured == ()


def test_a_recompile_names_guard_values_and_line() -> None:
    compiled = warm(scale, torch.ones(3))
    said = message(lambda: compiled(torch.ones(3), "b"))
    assert "recompile: 1 compile in the steady state, at most 0 allowed" in said
    assert "by value: expected 'a', actual 'b'" in said
    assert 'x * 2 if by == "a" else x * 3' in said
    assert f"scale ({__file__}:" in said


def test_a_size_is_named_with_its_axis() -> None:
    compiled = warm(scale, torch.ones(3), dynamic=False)
    assert "x size[0]: expected 3, actual 4" in message(lambda: compiled(torch.ones(4)))


def test_some_recompiles_can_be_allowed() -> None:
    compiled = warm(scale, torch.ones(3))
    with expect(max_recompiles=1):
        compiled(torch.ones(3), "b")


def test_warm_up_is_left_out() -> None:
    compiled = torch.compile(scale, backend="eager")
    with expect(after=2):
        compiled(torch.ones(3))
        compiled(torch.ones(4))
        compiled(torch.ones(5))


def test_a_compile_after_warm_up_is_not() -> None:
    compiled = torch.compile(scale, backend="eager")

    def run() -> None:
        compiled(torch.ones(3))
        compiled(torch.ones(3), "b")

    said = message(run, after=1)
    assert "recompile: 1 compile" in said
    assert "call 1" in said


def test_the_limit_and_what_follows_it() -> None:
    compiled = torch.compile(scale, backend="eager")

    def run() -> None:
        for by in "abcd":
            compiled(torch.ones(3), by)

    with torch._dynamo.config.patch(recompile_limit=2):
        said = message(run, max_recompiles=2)
    assert "cache-limit: scale" in said
    assert "recompile_limit (2)" in said
    assert "silent-eager: a frame ran eagerly 1 time" in said


def test_silent_calls_of_entries_from_before_are_seen() -> None:
    compiled = torch.compile(scale, backend="eager")
    with torch._dynamo.config.patch(recompile_limit=1):
        compiled(torch.ones(3), "a")
        compiled(torch.ones(3), "b")

        def run() -> None:
            compiled(torch.ones(3), "a")
            compiled(torch.ones(3), "b")
            compiled(torch.ones(3), "c")

        said = message(run)
    assert "silent-eager: a frame ran eagerly 2 times" in said


def test_a_code_object_switched_off_inside() -> None:
    compiled = warm(fragile, torch.ones(3), "good")

    def run() -> None:
        with pytest.raises(ValueError, match="bad"):
            compiled(torch.ones(3), "bad")

    assert "switched-off: fragile" in message(run)


def test_a_code_object_that_was_off_before() -> None:
    compiled = warm(fragile, torch.ones(3), "good")
    with pytest.raises(ValueError, match="bad"):
        compiled(torch.ones(3), "bad")
    said = message(lambda: compiled(torch.ones(3), "good"))
    assert "1 of 1 calls ran without compiled code" in said
    assert "is switched off since compile 0/1" in said


def test_eager_can_be_allowed() -> None:
    compiled = warm(fragile, torch.ones(3), "good")
    with pytest.raises(ValueError, match="bad"):
        compiled(torch.ones(3), "bad")
    with expect(no_eager=False):
        compiled(torch.ones(3), "good")


def test_fullgraph_sees_breaks_of_entries_from_before() -> None:
    compiled = warm(broken, torch.ones(3))
    with expect():
        compiled(torch.ones(3))
    said = message(lambda: compiled(torch.ones(3)), fullgraph=True)
    assert "graph-break: 1 calls ran as 2 frames" in said
    assert "torch_dynamo_resume_in_broken" in said


def test_fullgraph_of_one_graph_passes() -> None:
    compiled = warm(scale, torch.ones(3))
    with expect(fullgraph=True):
        compiled(torch.ones(3))


def test_any_backend() -> None:
    compiled = torch.compile(scale, backend=lambda graph, _inputs: graph.forward)
    compiled(torch.ones(3))
    with expect():
        compiled(torch.ones(3))
    assert "actual 'b'" in message(lambda: compiled(torch.ones(3), "b"))


def test_any_thread() -> None:
    compiled = warm(scale, torch.ones(3))

    def run() -> None:
        thread = threading.Thread(target=compiled, args=(torch.ones(3), "b"))
        thread.start()
        thread.join()

    assert "actual 'b'" in message(run)


def test_many_threads_in_a_steady_state() -> None:
    compiled = warm(scale, torch.ones(3))
    with expect(fullgraph=True):
        threads = [threading.Thread(target=compiled, args=(torch.ones(3),)) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


def test_an_exception_of_the_block_goes_through() -> None:
    compiled = warm(scale, torch.ones(3))

    def run() -> None:
        with expect():
            compiled(torch.ones(3), "b")
            raise KeyError

    with pytest.raises(KeyError):
        run()


def state() -> tuple[Any, ...]:
    from torch._dynamo import convert_frame, eval_frame, output_graph, utils
    from torch.fx.experimental.symbolic_shapes import ShapeEnv

    slot = torch._C._dynamo.eval_frame.set_guard_complete_hook
    hook = slot(None)
    slot(hook)
    return (
        hook,
        convert_frame.CatchErrorsWrapper.__call__,
        convert_frame.exceeds_recompile_limit,
        eval_frame.OptimizeContext.__init__,
        output_graph.GraphCompileReason.__post_init__,
        utils.log_compilation_event,
        ShapeEnv.create_symbol,
    )


def test_nothing_stays_installed() -> None:
    compiled = warm(scale, torch.ones(3))
    context = dict(zip(compiled.__code__.co_freevars, compiled.__closure__, strict=True))["self"]
    before = state(), len(context.cell_contents.enter_exit_hooks)
    message(lambda: compiled(torch.ones(3), "b"))
    assert (state(), len(context.cell_contents.enter_exit_hooks)) == before


def test_another_hook_in_the_slot_is_left_and_told() -> None:
    compiled = warm(scale, torch.ones(3))
    slot = torch._C._dynamo.eval_frame.set_guard_complete_hook
    hook = (False, True).__getitem__
    slot(hook)
    try:
        with expect() as terms:
            compiled(torch.ones(3))
        assert "calls that ran eagerly" in terms.not_measured[0]
    finally:
        assert slot(None) is hook


def test_beside_a_recorder_compiles_are_still_seen(tmp_path: Path) -> None:
    compiled = warm(scale, torch.ones(3))
    with compile_ledger.record(tmp_path):
        with expect() as terms:
            compiled(torch.ones(3))
        assert terms.not_measured
        assert "actual 'b'" in message(lambda: compiled(torch.ones(3), "b"))
