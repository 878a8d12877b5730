"""Guard sources: ``L['x']``, as torch's own settings name what a guard is about."""

from __future__ import annotations


def source_of(subject: str) -> str:
    """The guard source of a subject as the runtime's texts name it; empty when it has none.

    torch 2.13 prints ``x`` for ``L['x']``, and ``args[0]`` for ``L['args'][0]``.
    """
    if not subject or subject.startswith(("L[", "G[")):
        return subject
    ends = (at for at, character in enumerate(subject) if character in ".[")
    end = next(ends, len(subject))
    head, rest = subject[:end], subject[end:]
    return f"L['{head}']{rest}" if head.isidentifier() else ""


def is_attribute(subject: str) -> bool:
    """Whether a subject is reached through an object: ``self.k``, not ``k``."""
    return "." in subject
