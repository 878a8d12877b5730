"""Rules for guards on the process, the entry and the runtime itself."""

from __future__ import annotations

from .rules import Rule, named, rule

_ERROR = (
    r"(?P<detail>(?:\w+\.)*\w*(?:Error|Exception|Exceeded|LimitHit|Violation)\w*): (?P<subject>.+)"
)

RULES: tuple[Rule, ...] = (
    rule(r"GLOBAL_STATE changed: (?P<subject>.+?)\s*", named("global-state")),
    rule(
        r"___check_global_state\(\)(?: against (?P<expected>.+))?",
        named("global-state", subject="unnamed"),
    ),
    rule(
        r"___check_torch_function_mode_stack\(\)",
        named("function-mode", subject="torch function mode stack"),
    ),
    rule(
        r"(?:\w+\.)*CURRENT_DEVICE == (?P<expected>.+)",
        named("default-device", subject="default device"),
    ),
    rule(
        r"(?:\w+\.)*top_saved_tensors_hooks ids == (?P<expected>.+)",
        named("tensor-hooks", subject="saved tensor hooks"),
    ),
    rule(
        r"(?:\w+\.)*compare_functorch_state\((?P<expected>.*)\)",
        named("functorch", subject="functorch transforms"),
    ),
    rule(
        r"(?:\w+\.)*forward_ad\._current_level == (?P<expected>.+)",
        named("dual-level", subject="forward AD level"),
    ),
    rule(
        r"Cache line invalidated because (?P<subject>.+) got deallocated",
        named("invalidated", expected="alive", actual="freed"),
    ),
    rule(
        r"BACKEND_MATCH failure: .*?Cached backend: (?P<expected>.+?)\. "
        r"New backend: (?P<actual>.+?)(?:\. If this.*)?",
        named("backend", subject="backend of torch.compile"),
    ),
    rule(r"", named("backend", subject="backend of torch.compile")),
    rule(_ERROR, named("error")),
    rule(
        r"Unexpected recompilation.*",
        named("concurrent", subject="as when threads compile the same code at once"),
    ),
)
"""torch 2.6 gives an empty reason when another backend object asks for the entry."""
