"""One leaf against eager's: exact where it must be, against fp64 where it need not be."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch

from compile_ledger.experiment.correctness.error import (
    Tolerance,
    Where,
    compare_leaf,
    relative_error,
)
from compile_ledger.facts.agreement import Agreement

WHERE = Where(0, 3, "out[0]")
INF, NAN = math.inf, math.nan


def compare(
    eager: Any, compiled: Any, reference: Any = None, *, stated: Tolerance | None = None
) -> Agreement:
    return compare_leaf(WHERE, eager, compiled, reference, stated or Tolerance())


def t(*values: Any, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.tensor(values, dtype=dtype)


def f64(*values: float) -> torch.Tensor:
    return t(*values, dtype=torch.float64)


def test_the_same_bits_are_equal_and_say_what_they_are() -> None:
    found = compare(t(1.0, 2.0), t(1.0, 2.0))
    assert (found.status, found.max_abs, found.stated) == ("equal", 0.0, True)
    assert (found.region, found.call, found.leaf) == (0, 3, "out[0]")
    assert (found.dtype, found.shape) == ("float32", (2,))


@pytest.mark.parametrize("value", [NAN, INF, -INF, -0.0])
def test_special_values_equal_themselves(value: float) -> None:
    assert compare(t(1.0, value), t(1.0, value)).status == "equal"


def test_nothing_in_it_is_equal() -> None:
    assert compare(torch.empty(0, 3), torch.empty(0, 3)).status == "equal"


@pytest.mark.parametrize(
    ("compiled", "said"),
    [
        (t(1.0, 2.0, dtype=torch.float64), "dtype: eager torch.float32, compiled torch.float64"),
        (t(1, 2, dtype=torch.int32), "dtype: eager torch.float32, compiled torch.int32"),
        (t(1.0), "shape: eager (2,), compiled (1,)"),
        (t(1.0, 2.0).reshape(1, 2), "shape: eager (2,), compiled (1, 2)"),
    ],
)
def test_another_dtype_or_shape_differs_whatever_the_values(
    compiled: torch.Tensor, said: str
) -> None:
    found = compare(t(1.0, 2.0), compiled, f64(1.0, 2.0))
    assert (found.status, found.why) == ("differs", said)


@pytest.mark.parametrize("dtype", [torch.int8, torch.int64, torch.bool, torch.uint8])
def test_whole_numbers_are_exact(dtype: torch.dtype) -> None:
    found = compare(t(0, 1, dtype=dtype), t(1, 1, dtype=dtype), f64(0.0, 1.0))
    assert (found.status, found.stated, found.max_abs) == ("differs", False, 1.0)
    assert "exact values differ" in found.why


def test_another_type_of_value_differs_and_both_are_quoted() -> None:
    assert compare("int 3", "int 3").status == "equal"
    found = compare("int 3", "float 3.0")
    assert (found.status, found.why) == ("differs", "eager: int 3; compiled: float 3.0")
    assert compare(t(3.0), "float 3.0").why == "eager: a tensor (1,); compiled: float 3.0"
    assert compare("NoneType None", t(3.0)).status == "differs"


def test_other_strides_are_noted_and_do_not_differ() -> None:
    square = torch.rand(2, 3)
    found = compare(square, square.t().contiguous().t())
    assert (found.status, found.note) == ("equal", "strides: eager (3, 1), compiled (1, 2)")
    close = compare(square, square.t().contiguous().t() + 1e-7, square.double())
    assert (close.status, close.note) == ("within", found.note)


@pytest.mark.parametrize("error", [5e-7, 1e-6])
def test_a_float_passes_within_three_times_eagers_error_or_sixteen_eps(error: float) -> None:
    eager, compiled = t(1.0 + error / 2), t(1.0 + error)
    found = compare(eager, compiled, f64(1.0))
    assert (found.status, found.reference) == ("within", "fp64")
    assert found.error_compiled == pytest.approx(error, rel=0.2)
    assert found.error_eager == pytest.approx(error / 2, rel=0.5)


def test_a_float_further_from_fp64_than_that_differs_though_the_stated_tolerance_passes() -> None:
    found = compare(t(1.0), t(1.0 + 2e-5), f64(1.0))
    assert (found.status, found.stated) == ("differs", True)
    assert "against fp64" in found.why


def test_a_float_nearer_to_fp64_than_eager_passes_though_the_stated_tolerance_fails() -> None:
    found = compare(t(1.1), t(1.0), f64(1.0))
    assert (found.status, found.stated) == ("within", False)
    assert found.error_compiled == 0.0


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_is_judged_by_its_own_eps(dtype: torch.dtype) -> None:
    eps = torch.finfo(dtype).eps
    for factor, status in ((8, "within"), (40, "differs")):
        found = compare(t(1.0, dtype=dtype), t(1.0 + factor * eps, dtype=dtype), f64(1.0))
        assert found.status == status
    assert compare(t(1.0, dtype=dtype), t(1.0 + 8 * eps, dtype=dtype), f64(1.0)).stated is False


def test_small_values_are_judged_by_their_own_scale() -> None:
    found = compare(t(1e-6, 2e-6), t(1e-6, 2.2e-6), f64(1e-6, 2e-6))
    assert (found.status, found.stated) == ("differs", True)


def test_a_reference_of_zero_is_judged_by_the_error_itself() -> None:
    assert compare(t(0.0), t(1e-8), f64(0.0)).status == "within"
    assert compare(t(0.0), t(1e-3), f64(0.0)).status == "differs"
    assert relative_error(t(0.5), f64(0.0)) == 0.5


def test_without_a_reference_the_stated_tolerance_decides() -> None:
    assert compare(t(1.0), t(1.00001)).status == "within"
    found = compare(t(1.0), t(1.01))
    assert (found.status, found.stated, found.reference) == ("differs", False, "none")
    assert found.why == "outside rtol=0.0001 atol=0.0001, no fp64 reference"
    assert compare(t(1.0), t(1.01), stated=Tolerance(rtol=0.1)).status == "within"


def test_a_reference_of_another_shape_is_not_used() -> None:
    assert compare(t(1.0, 1.0), t(1.0, 1.00001), f64(1.0)).reference == "none"


@pytest.mark.parametrize("bad", [NAN, INF])
def test_a_value_that_is_not_finite_where_eager_and_fp64_are_differs(bad: float) -> None:
    found = compare(t(1.0, 2.0), t(1.0, bad), f64(1.0, 2.0))
    assert found.status == "differs"
    assert found.why == "NaN or infinity in 1 places where the other is finite"


@pytest.mark.parametrize("bad", [NAN, INF])
def test_a_finite_value_is_right_where_only_eager_overflows(bad: float) -> None:
    assert compare(t(1.0, bad), t(1.0, 2.0), f64(1.0, 2.0)).status == "within"
    assert compare(t(1.0, bad), t(1.0, 2.0)).status == "differs", "no reference can excuse it"
    assert compare(t(1.0, bad), t(1.0, 2.0), f64(1.0, bad)).status == "differs"


@pytest.mark.parametrize(("eager", "compiled"), [(NAN, INF), (INF, NAN), (INF, -INF), (-INF, INF)])
def test_one_value_that_is_not_finite_is_not_another(eager: float, compiled: float) -> None:
    for reference in (None, f64(1.0, eager), f64(1.0, 2.0)):
        found = compare(t(1.0, eager), t(1.0, compiled), reference)
        assert found.status == "differs"
        assert found.why == "another of NaN, infinity and minus infinity in 1 places"


def test_the_greatest_difference_is_that_of_finite_places() -> None:
    found = compare(t(1.0, NAN, 3.0), t(1.5, NAN, 3.0), f64(1.0, NAN, 3.0))
    assert found.max_abs == 0.5


def test_complex_numbers_are_judged_by_both_parts() -> None:
    eager = t(1 + 1j, dtype=torch.complex64)
    reference = t(1 + 1j, dtype=torch.complex128)
    assert compare(eager, eager.clone(), reference).status == "equal"
    assert compare(eager, t(1 + 1.0000001j, dtype=torch.complex64), reference).status == "within"
    assert compare(eager, t(1 - 1j, dtype=torch.complex64), reference).status == "differs"
    assert compare(eager, eager.conj().resolve_conj(), reference).status == "differs"


@pytest.mark.parametrize("dtype", [torch.complex64, torch.int64, torch.bool, torch.float16])
def test_a_difference_in_any_dtype_is_told_without_an_exception(dtype: torch.dtype) -> None:
    found = compare(torch.zeros(2).to(dtype), torch.ones(2).to(dtype))
    assert (found.status, found.max_abs) == ("differs", 1.0)


@pytest.mark.parametrize("name", ["float8_e4m3fn", "float8_e5m2"])
def test_eight_bit_floats_are_compared(name: str) -> None:
    dtype = getattr(torch, name)
    one, two = torch.ones(2).to(dtype), torch.full((2,), 2.0).to(dtype)
    assert compare(one, one.clone()).status == "equal"
    assert compare(one, two).status == "differs"


def test_sparse_tensors_are_compared_by_value() -> None:
    one = torch.eye(3).to_sparse()
    assert compare(one, one.clone()).status == "equal"
    assert compare(one, (2 * torch.eye(3)).to_sparse()).status == "differs"


def test_another_layout_differs() -> None:
    found = compare(torch.eye(3), torch.eye(3).to_sparse())
    assert (found.status, found.why[:14]) == ("differs", "layout: eager ")
