import importlib.util
from types import ModuleType

import torch

from .conftest import ROOT, RunExample

LENGTHS = [60, 63, 69, 16, 19, 75, 19, 55, 25, 35, 37, 66, 52]


def load() -> ModuleType:
    spec = importlib.util.spec_from_file_location(
        "varlen_service", ROOT / "examples/varlen_service.py"
    )
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_static_shapes_fill_the_cache_line_and_fall_back(run_example: RunExample) -> None:
    seen = run_example("varlen_service.py")
    assert seen.lengths == LENGTHS
    assert seen.kwargs == [{"dynamic": False}]
    assert seen.graphs == 8
    # Calls 0 to 8 run one graph each, call 6 the one of call 4; later calls run none.
    assert seen.runs == [0, 1, 2, 3, 4, 5, 4, 6, 7]
    assert "hit config.recompile_limit (8)" in seen.log
    assert "tensor 'idx' size mismatch at index 1. expected 60, actual 63" in seen.log


def test_the_default_policy_settles_after_one_recompile(run_example: RunExample) -> None:
    seen = run_example("varlen_service.py", "--dynamic", "none")
    assert seen.kwargs == [{"dynamic": None}]
    assert (seen.graphs, seen.recompiles) == (2, 1)
    assert seen.runs == [0] + [1] * 12


def test_dynamic_from_the_start_compiles_once(run_example: RunExample) -> None:
    seen = run_example("varlen_service.py", "--dynamic", "true")
    assert (seen.graphs, seen.recompiles, len(seen.runs)) == (1, 0, 13)


def test_model_and_requests_are_the_same_every_time() -> None:
    module = load()
    first, second = module.load_model(), module.load_model()
    with torch.no_grad():
        for one, other in zip(module.requests(), module.requests(), strict=True):
            assert torch.equal(first(one), second(other))


def test_workload_states_the_program() -> None:
    workload = load().workload()
    assert workload.compile == {"dynamic": False}
    assert [args[0].shape[1] for args, _ in workload.each_call()] == LENGTHS
    with workload.around(0, workload.fn):
        assert not torch.is_grad_enabled()
