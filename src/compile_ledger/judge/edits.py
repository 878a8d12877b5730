"""The edit that removes each kind of failure: what a report names where no setting was shown to."""

from __future__ import annotations

from .document import Finding
from .slugs import recompile_slug

_ONE_STATE = "make every call under one state: the same grad mode, autocast and thread count"
_EDITS = {
    "eager-raises": "repair the exception first: it is raised without the compiler, too",
    "wrapper-visible": "use the module itself, model._orig_mod, where its names or type count "
    "(state_dict, isinstance), or compile it in place: model.compile()",
    "compiled-raises": "keep the line that raises outside the region, or report it to PyTorch",
    "exception-lost": "check the input before the call of the region",
    "toolchain-missing": "install a C++ compiler (Debian: g++ and python3-dev), or name one in CXX",
    "numerics": "run this part in a wider dtype, or keep it outside the region",
    "output-differs": "keep the line that makes this output outside the region",
    "gradient-differs": "keep what this gradient flows through outside the region",
    "side-effect-lost": "return the value, and make the side effect outside the region",
    "graph-break": "move the line that breaks before or after the region",
    "frame-skipped": "move the line that breaks before or after the region",
    "no-graph": "compile the function that holds the tensor operations",
    "region-bypassed": "call what torch.compile returned, there where the original is called",
    "eager-operators": "move what runs eagerly out of the region, or let it be captured",
    "observer-effect": "return the value, and look at it outside the region",
    "fresh-code": "make the function once, compile it once, and keep it",
    "line-cleared": "take torch.compiler.reset() or torch._dynamo.reset() out of the loop",
    "recompile-unnamed": "call torch.compile once, and keep what it returns",
    "cache-limit": "keep what the guards check the same from call to call",
    "stance-refused": "before the stance is set, call it once with each kind of input to come",
    "stance-eager": "before the stance is set, call it once with each kind of input to come",
    "forced-eager": "take the stance force_eager away for these calls",
    "silent-eager": "keep what the guards check the same from call to call",
    "switched-off": "remove the break that switched the function off",
    "shared-line": "give each region a function of its own",
    "shadowed-entry": "warm up with the calls that the loop will make, and no others",
    "compile-in-loop": "call torch.compile once, before the loop, and keep what it returns",
    "not-worth-it": "call it without torch.compile, or compile a larger part of the program",
}
_RECOMPILES = {
    "size": "pad {it} to few sizes, or mark the axis with torch._dynamo.mark_dynamic",
    "stride": "give {it} one memory layout: call .contiguous() on it before the region",
    "rank": "give {it} the same number of dimensions in every call (unsqueeze a lone sample)",
    "dtype": "cast {it} to one dtype before the region",
    "dispatch-keys": "make {it} the same way for every call: one device, one layout, and all "
    "under no_grad or all under inference_mode",
    "device": "compile one function for each device",
    "requires-grad": "freeze or unfreeze before compiling, or compile one function for each phase",
    "tensor-type": "pass {it} as a tensor of one type in every call",
    "dim-marking": "mark {it} in every call, or in none",
    "aliasing": "pass separate tensors: clone the one that is given twice",
    "constant-int": "pass {it} as a tensor, or compute what depends on it outside the region",
    "constant-float": "pass {it} as a tensor, or compute what depends on it outside the region",
    "constant-bool": "compile one function for each value of {it}",
    "constant-str": "choose by {it} outside the region: one compiled function for each name",
    "constant-none": "pass a tensor in place of None, or compile one function for each form",
    "constant-nan": "pass {it} as a tensor",
    "constant": "keep {it} the same, or choose by it outside the region",
    "relation": "keep the sizes away from the branch: pad to sizes that take one side of it",
    "identity": "make {it} once, and pass the same object in every call",
    "function-code": "define {it} once, outside the loop, and pass that one",
    "type": "define the class of {it} once",
    "length": "keep {it} at one length: allocate it once, or keep it outside the region",
    "dict-keys": "give {it} the same keys in every call",
    "set-elements": "keep the elements of {it} the same, or look them up outside the region",
    "hasattr": "set the attribute before the first call",
    "access": "keep the attribute or key in place between calls",
    "iterator": "make the iterator inside the region, or pass a list",
    "invalidated": "keep the object that the graph was made for alive",
    "global-state": _ONE_STATE,
    "function-mode": _ONE_STATE,
    "default-device": _ONE_STATE,
    "tensor-hooks": "set the saved-tensor hooks around every call, or around none",
    "functorch": "apply vmap or grad in every call, or in none",
    "dual-level": "make every call at one forward AD level",
    "backend": "call torch.compile once, and keep what it returns",
    "concurrent": "call the region once in one thread before the other threads start",
}
EDITS = _EDITS | {recompile_slug(kind): edit for kind, edit in _RECOMPILES.items()}
"""Slug to an edit in words; ``{it}`` stands for what the finding is about."""


def edit_for(finding: Finding) -> str:
    """The edit that the kind of a finding calls for; empty where none is known."""
    subject = finding.subject or "what the guard checks"
    return EDITS.get(finding.slug, "").replace("{it}", subject)
