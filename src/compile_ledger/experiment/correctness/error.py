"""Compares one leaf: exactly where it must be exact, against fp64 where it need not be."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from compile_ledger.facts.agreement import Agreement, AgreementStatus

EAGER_FACTOR = 3.0
EPS_FACTOR = 16.0
"""``e_compiled <= max(3 * e_eager, 16 * eps)``: DESIGN section 3, measured on 30 pairs."""


@dataclass(frozen=True)
class Tolerance:
    """The agreement that the user states."""

    rtol: float = 1e-4
    atol: float = 1e-4


@dataclass(frozen=True)
class Where:
    """Which leaf of which call is compared."""

    region: int | None
    call: int | None
    leaf: str


def compare_leaf(
    where: Where, eager: Any, compiled: Any, reference: Any, stated: Tolerance
) -> Agreement:
    """Compare one leaf with eager's; ``reference`` is the fp64 tensor or None."""
    import torch

    if not isinstance(eager, torch.Tensor) or not isinstance(compiled, torch.Tensor):
        return _compare_texts(where, eager, compiled, stated)
    wrong = _wrong_form(eager, compiled)
    if wrong:
        return _agreement(where, compiled, "differs", why=wrong)
    if _same_bits(eager, compiled):
        note = _stride_note(eager, compiled)
        return _agreement(where, compiled, "equal", note=note, max_abs=0.0, stated=True)
    if not (compiled.is_floating_point() or compiled.is_complex()):
        worst = float((_plain(eager).double() - _plain(compiled).double()).abs().max())
        why = f"exact values differ, by up to {worst:g}"
        return _agreement(where, compiled, "differs", why=why, max_abs=worst, stated=False)
    return _compare_floats(where, eager, compiled, reference, stated)


def _compare_texts(where: Where, eager: Any, compiled: Any, stated: Tolerance) -> Agreement:
    texts = [x if isinstance(x, str) else f"a tensor {tuple(x.shape)}" for x in (eager, compiled)]
    if texts[0] == texts[1]:
        return Agreement(where.region, where.call, where.leaf, "equal")
    far = _apart(texts, stated)
    if far is not None:
        return Agreement(where.region, where.call, where.leaf, "within", max_abs=far, stated=True)
    why = f"eager: {texts[0][:200]}; compiled: {texts[1][:200]}"
    return Agreement(where.region, where.call, where.leaf, "differs", why=why)


def _apart(texts: list[str], stated: Tolerance) -> float | None:
    """How far two Python floats are apart, within the stated tolerance; None: they differ."""
    if not all(text.startswith("float ") for text in texts):
        return None
    mine, theirs = (float(text.removeprefix("float ")) for text in texts)
    far = abs(mine - theirs)
    return far if far <= stated.atol + stated.rtol * abs(mine) else None


def _wrong_form(eager: Any, compiled: Any) -> str:
    if eager.dtype != compiled.dtype:
        return f"dtype: eager {eager.dtype}, compiled {compiled.dtype}"
    if eager.layout != compiled.layout:
        return f"layout: eager {eager.layout}, compiled {compiled.layout}"
    if eager.shape != compiled.shape:
        return f"shape: eager {tuple(eager.shape)}, compiled {tuple(compiled.shape)}"
    return ""


def _stride_note(eager: Any, compiled: Any) -> str:
    try:
        mine, theirs = eager.stride(), compiled.stride()
    except RuntimeError:
        return ""
    return "" if mine == theirs else f"strides: eager {mine}, compiled {theirs}"


def _same_bits(eager: Any, compiled: Any) -> bool:
    mine, theirs = _plain(eager), _plain(compiled)
    return bool(((mine == theirs) | (mine.isnan() & theirs.isnan())).all())


def _agreement(where: Where, tensor: Any, status: AgreementStatus, **more: Any) -> Agreement:
    return Agreement(
        region=where.region,
        call=where.call,
        leaf=where.leaf,
        status=status,
        dtype=str(tensor.dtype).removeprefix("torch."),
        shape=tuple(tensor.shape),
        **more,
    )


def _compare_floats(
    where: Where, eager: Any, compiled: Any, reference: Any, stated: Tolerance
) -> Agreement:
    import torch

    usable = reference is not None and reference.shape == compiled.shape
    masks = _masks(eager, compiled, reference if usable else None)
    passes = torch.allclose(
        _plain(compiled), _plain(eager), rtol=stated.rtol, atol=stated.atol, equal_nan=True
    )
    if masks:
        found = _agreement(where, compiled, "differs", why=masks)
    elif usable:
        found = _against_reference(where, eager, compiled, reference)
    elif passes:
        found = _agreement(where, compiled, "within")
    else:
        why = f"outside rtol={stated.rtol:g} atol={stated.atol:g}, no fp64 reference"
        found = _agreement(where, compiled, "differs", why=why)
    note = _stride_note(eager, compiled)
    return replace(found, max_abs=_max_abs(eager, compiled), stated=bool(passes), note=note)


def _against_reference(where: Where, eager: Any, compiled: Any, reference: Any) -> Agreement:
    import torch

    of_eager, of_compiled = relative_error(eager, reference), relative_error(compiled, reference)
    bound = max(EAGER_FACTOR * of_eager, EPS_FACTOR * torch.finfo(compiled.dtype).eps)
    within = of_compiled <= bound
    why = "" if within else f"error {of_compiled:.2g} against fp64, eager's is {of_eager:.2g}"
    status: AgreementStatus = "within" if within else "differs"
    found = _agreement(where, compiled, status, why=why, reference="fp64")
    return replace(found, error_compiled=of_compiled, error_eager=of_eager)


def compare_gradient(
    where: Where,
    eager: Any,
    compiled: Any,
    referee: Callable[[], Any],
    noisy: Callable[[], list[float]],
) -> Agreement:
    """Compare one gradient with eager's by the fp64 referee, which is asked where bits differ.

    ``noisy`` tells the errors of eager with inputs and weights moved by some rounding
    steps; it is called only where nothing else explains the compiled error: rounding
    that flips a ReLU moves a gradient by more than rounding, and so may compiled code.
    """
    wrong = _wrong_form(eager, compiled)
    if wrong:
        return _agreement(where, compiled, "differs", why=wrong)
    if _same_bits(eager, compiled):
        return _agreement(where, compiled, "equal", max_abs=0.0)
    reference = referee()
    masks = _masks(eager, compiled, reference)
    if masks:
        return _agreement(where, compiled, "differs", why=masks)
    errors = relative_error(compiled, reference), relative_error(eager, reference)
    note = _explained(*errors, noisy)
    why = f"error {errors[0]:.2g} against fp64, eager's is {errors[1]:.2g}"
    status: AgreementStatus = "differs" if note is None else "within"
    found = _agreement(where, compiled, status, why=why if note is None else "", note=note or "")
    return replace(
        found,
        max_abs=_max_abs(eager, compiled),
        error_compiled=errors[0],
        error_eager=errors[1],
        reference="fp64",
    )


GRADIENT_FLOOR = 2e-2
GRADIENT_FACTOR = 10.0
"""A gradient passes at ``max(10 * e_eager, 2 %)``. Looser than outputs: compiled code adds
up long sums in order, in fp32, where eager adds them up in blocks; healthy BatchNorm
gradients are up to 1.2e-3 from fp64 where eager's are 1e-6 (16 x 32 x 32 values, inductor)."""
NOISE_ONLY = 0.1
NOISE_FACTOR = 1000.0
"""Where eager's own error is a tenth, the gradient is zero but for rounding (a bias before
BatchNorm): only one of another order of magnitude is wrong."""


DRIFT_STEPS = 4.0
DRIFT_FACTOR = 10.0
"""A training step passes at ten times the distance that four roundings at its start lead to:
healthy compiled trajectories went up to three times as far as those of one rounding."""


def nudge(named: dict[str, Any]) -> None:
    """Move every float tensor by up to four of its roundings, the same way in every run."""
    import torch

    source = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for tensor in named.values():
            if tensor.is_floating_point() and tensor.layout == torch.strided:
                noise = torch.rand(tensor.shape, generator=source) * 2 - 1
                tensor.mul_(1 + DRIFT_STEPS * torch.finfo(tensor.dtype).eps * noise.to(tensor))


def within_drift(found: Agreement, pair: Any, before: Any, drifted: Any) -> Agreement:
    """``found`` as agreement where compiled went no further from eager than rounding does."""
    import torch

    eager, compiled = (before if side is None else side for side in pair)
    sides = eager, compiled, drifted
    if not all(isinstance(side, torch.Tensor) for side in sides) or _wrong_form(eager, compiled):
        return found
    if not compiled.is_floating_point() or drifted.shape != eager.shape:
        return found
    far, rounding = relative_error(compiled, eager), relative_error(drifted, eager)
    if _masks(eager, compiled, None) or far > DRIFT_FACTOR * rounding:
        why = f"{far:.1e} from eager's, where rounding alone leads {rounding:.1e} away"
        return replace(found, why=f"{found.why}; {why}")
    return replace(found, status="within", why="", note="within the drift of rounding")


def _explained(compiled: float, eager: float, noisy: Callable[[], list[float]]) -> str | None:
    """Why a gradient's error is rounding; None where it is not."""
    if compiled <= max(GRADIENT_FLOOR, GRADIENT_FACTOR * eager):
        return ""
    if eager >= NOISE_ONLY:
        return "rounding on both sides" if compiled <= NOISE_FACTOR * eager else None
    if compiled <= EAGER_FACTOR * max(noisy(), default=0.0):
        return "within what rounding of inputs and weights does to eager's"
    return None


def _plain(tensor: Any) -> Any:
    """The values as a dense tensor of a type that torch compares."""
    import torch

    if tensor.is_quantized:
        return tensor.dequantize()
    if tensor.layout != torch.strided:
        tensor = tensor.to_dense()
    eight_bits = tensor.is_floating_point() and tensor.element_size() == 1
    return tensor.float() if eight_bits else tensor


def _real(tensor: Any) -> Any:
    import torch

    plain = _plain(tensor)
    return torch.view_as_real(plain.resolve_conj()) if plain.is_complex() else plain


def relative_error(tensor: Any, reference: Any) -> float:
    """``rmse(x, reference) / rms(reference)`` over the places where both are finite."""
    mine, theirs = _real(tensor).double(), _real(reference).double()
    finite = mine.isfinite() & theirs.isfinite()
    if not bool(finite.any()):
        return 0.0
    scale = float(theirs[finite].square().mean().sqrt())
    rmse = float((mine - theirs)[finite].square().mean().sqrt())
    return rmse / scale if scale else rmse


def _max_abs(eager: Any, compiled: Any) -> float | None:
    apart = (_real(eager).double() - _real(compiled).double()).abs()
    finite = apart[apart.isfinite()]
    return float(finite.max()) if finite.numel() else None


def _masks(eager: Any, compiled: Any, reference: Any) -> str:
    """Why NaN or infinity in one and not the other is wrong; empty when it is not.

    Where they differ, the fp64 reference decides: compiled is right to be finite
    where fp64 is (it keeps more digits), and wrong where fp64 is not.
    """
    import torch

    mine, theirs = _real(compiled), _real(eager)
    differ = _class(mine) != _class(theirs)
    if not bool(differ.any()):
        return ""
    if reference is not None:
        right = torch.isfinite(_real(reference).to(mine.device))
        if bool((mine.isfinite() & right)[differ].all()):
            return ""
    places = int(differ.sum())
    if bool((mine.isfinite() == theirs.isfinite())[differ].all()):
        return f"another of NaN, infinity and minus infinity in {places} places"
    return f"NaN or infinity in {places} places where the other is finite"


def _class(tensor: Any) -> Any:
    """0 where finite, and a number each for NaN, infinity and minus infinity."""
    return tensor.isnan() + 2 * tensor.isposinf() + 3 * tensor.isneginf()
