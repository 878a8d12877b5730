import re

from .conftest import RunExample


def test_evaluation_recompiles_once_and_settles(run_example: RunExample) -> None:
    seen = run_example("train.py")
    assert (seen.graphs, seen.recompiles) == (2, 1)
    assert "GLOBAL_STATE changed: grad_mode" in seen.log
    assert len(seen.runs) == 24, "20 training steps and 4 evaluations, one graph each"


def test_it_learns(run_example: RunExample) -> None:
    accuracies = re.findall(r"accuracy (\d\.\d+)", run_example("train.py").output)
    assert float(accuracies[-1]) > 0.9
