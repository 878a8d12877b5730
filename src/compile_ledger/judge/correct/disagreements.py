"""Findings of level CORRECT: what differs, and what is only noise."""

from __future__ import annotations

from compile_ledger.facts.agreement import Agreement
from compile_ledger.facts.contract import Contract
from compile_ledger.judge.document import Evidence, Finding
from compile_ledger.judge.words import listed, spans

from .agreements import GRADIENT, Compared, ratio

SIDE_EFFECTS = ("state", "mutated")
"""Leaves that begin so are not outputs: the program changed something."""


def disagreement(leaves: tuple[Agreement, ...], side: Compared) -> Finding:
    """Leaves of one arm that differ from eager: the first decides the kind."""
    first = leaves[0]
    slug = _slug(first)
    where = "" if side.own else " already under backend='eager': Dynamo's capture is the cause"
    at = _in_calls(leaves)
    inputs = side.overlapping.get((first.region, first.call), ())
    shared = f"; {' and '.join(inputs)} overlap in memory" if inputs else ""
    how = f"{_how(first)}{shared}"
    sentence = f"{_head(slug, first)}: {first.leaf}{at}: {how} ({side.name} arm){where}"
    return Finding(
        id=f"{slug}:{side.name}",
        slug=slug,
        level="CORRECT",
        severity="failure",
        sentence=sentence,
        subject=first.leaf,
        count=len(leaves),
        region=first.region,
        first_call=min((a.call for a in leaves if a.call is not None), default=None),
        evidence=tuple(
            Evidence("agreement with eager (correctness)", _line(a), arm=side.name)
            for a in leaves[:5]
        ),
    )


def _in_calls(leaves: tuple[Agreement, ...]) -> str:
    """`` in call 3``, `` in calls 0-1``; nothing for what the whole run left."""
    calls = sorted({a.call for a in leaves if a.call is not None})
    noun = "call" if len(calls) == 1 else "calls"
    return f" in {noun} {spans(calls)}" if calls else ""


def nondeterministic(leaf: str, region: int | None) -> Finding:
    """Eager differs from eager: whatever differs here is not the compiler's doing."""
    return Finding(
        id=f"nondeterministic:{region}:{leaf}",
        slug="nondeterministic",
        level="CORRECT",
        severity="note",
        sentence=f"eager does not agree with itself on {leaf}; the compiler is not blamed for it",
        subject=leaf,
        region=region,
        evidence=(Evidence("eager against eager (correctness)", leaf, arm="eager_again"),),
    )


def tolerance(side: Compared, contract: Contract) -> Finding | None:
    """The stated tolerance and the fp64 reference give different answers."""
    strict = [a for a in side.decided if a.status != "differs" and a.stated is False]
    lax = [a for a in side.differing if a.stated is True]
    leaves = strict or lax
    if not leaves:
        return None
    stated = f"rtol {contract.rtol:g}, atol {contract.atol:g}"
    judged = "fails what fp64 passes" if strict else "passes what fp64 fails"
    names = listed(sorted({a.leaf for a in leaves}), 3)
    return Finding(
        id=f"tolerance:{side.name}",
        slug="tolerance",
        level="CORRECT",
        severity="note",
        sentence=f"the stated tolerance ({stated}) {judged}: {names} ({side.name} arm)",
        subject=leaves[0].leaf,
        count=len(leaves),
        evidence=tuple(
            Evidence("agreement with eager (correctness)", _line(a), arm=side.name)
            for a in leaves[:5]
        ),
    )


_HEADS = {
    "side-effect-lost": "a side effect differs",
    "gradient-differs": "a gradient differs from eager's",
    "numerics": "compiled results are further from fp64 than eager's",
    "output-differs": "the output differs",
}


def _head(slug: str, leaf: Agreement) -> str:
    """The kind in words; of a side effect, which side lacks it."""
    if slug != "side-effect-lost" or not leaf.why.endswith("did not"):
        return _HEADS[slug]
    if leaf.why.startswith("eager"):
        return "a side effect of eager's is missing under torch.compile"
    return "torch.compile adds a side effect that eager does not have"


def _slug(leaf: Agreement) -> str:
    if leaf.leaf.startswith(SIDE_EFFECTS):
        return "side-effect-lost"
    if leaf.leaf.startswith(GRADIENT):
        return "gradient-differs"
    return "numerics" if leaf.error_compiled is not None else "output-differs"


def _how(leaf: Agreement) -> str:
    found = ratio(leaf)
    if leaf.error_compiled is not None and leaf.error_eager is not None:
        times = f", {found:.3g} times eager's" if found is not None else ""
        said = f"error {leaf.error_compiled:.2e} against eager's {leaf.error_eager:.2e}{times}"
        return said if not leaf.why or "against fp64" in leaf.why else f"{leaf.why}; {said}"
    told = leaf.max_abs is None or "by up to" in leaf.why
    far = "" if told else f"max |difference| {leaf.max_abs:.3g}"
    return ", ".join(words for words in (far, leaf.why) if words) or "it differs"


def _line(leaf: Agreement) -> str:
    where = "end of run" if leaf.call is None else f"call {leaf.call}"
    shape = f" {leaf.dtype}{list(leaf.shape)}" if leaf.dtype else ""
    return f"{where}, {leaf.leaf}{shape}: {_how(leaf)}"
