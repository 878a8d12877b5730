"""Settings of ``torch._dynamo.config``: read by the recorder, changed by experiments only."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pkgutil import resolve_name
from typing import Any

from .capabilities import MissingError


def recompile_limit() -> int | None:
    """The recompile limit as this thread sees it; None where this torch names it otherwise."""
    from torch._dynamo import config

    for name in ("recompile_limit", "cache_size_limit"):
        if hasattr(config, name):
            return int(getattr(config, name))
    return None


def change_setting(name: str, value: Any) -> None:
    """Set ``torch._dynamo.config.name`` in this thread; the settings are per thread.

    A setting that is a set of functions takes their import paths (``builtins.print``),
    and keeps what is in it; those that are not there yet (a library's method of
    ``logging.Logger``) are taken by :func:`settle`. Raises :class:`MissingError` on a
    torch without that setting.
    """
    from torch._dynamo import config

    known = _known(name)
    setattr(config, known, _resolved(known, getattr(config, known), value))


def hold_setting(name: str) -> None:
    """Let nothing change a setting from here on, in this process: for experiments only.

    What the program assigns to it, under any of its names, is ignored.
    """
    from torch._dynamo import config

    kind: Any = type(config)
    original = kind.__setattr__
    held = {name, _known(name), name.replace("recompile_limit", "cache_size_limit")}

    def assign(self: Any, attribute: str, value: Any) -> None:
        if self is not config or attribute not in held:
            original(self, attribute, value)

    kind.__setattr__ = assign


def _known(name: str) -> str:
    """The name that this torch gives a setting."""
    from torch._dynamo import config

    for known in (name, _OLDER.get(name, name)):
        if hasattr(config, known):
            return known
    msg = f"this torch has no setting torch._dynamo.config.{name}"
    raise MissingError(msg)


@contextmanager
def changed_settings(settings: Mapping[str, Any]) -> Iterator[None]:
    """Settings changed in this thread, and put back."""
    from torch._dynamo import config

    before = {name: getattr(config, name) for name in map(_known, settings)}
    try:
        for name, value in settings.items():
            change_setting(name, value)
        yield
    finally:
        for name, value in before.items():
            setattr(config, name, value)


_OLDER = {"ignore_logging_functions": "ignore_logger_methods"}
"""Settings by the names that older versions gave them; that one knows loggers only."""


def _resolved(name: str, present: Any, value: Any) -> Any:
    if not isinstance(present, (set, frozenset)):
        return value
    other = [path for path in value if not path.startswith("logging.")]
    if other and name in _OLDER.values():
        msg = f"this torch cannot ignore {other[0]}: its {name} is for loggers"
        raise MissingError(msg)
    found = {path: _function(path) for path in value}
    _later[_newer(name)] = [path for path, function in found.items() if function is None]
    return {*present, *filter(None, found.values())}


def _newer(name: str) -> str:
    return next((new for new, old in _OLDER.items() if old == name), name)


_later: dict[str, list[str]] = {}
"""Set of functions to the paths that no import had made when it was set."""


def settle() -> None:
    """Take what was not there when a setting was changed; called before a region is made.

    Raises :class:`MissingError` where it is still not there: nothing would be tested.
    """
    for name, paths in [item for item in _later.items() if item[1]]:
        change_setting(name, paths)
        if _later[name]:
            msg = f"the program has no function {_later[name][0]}"
            raise MissingError(msg)


def _function(path: str) -> Any:
    try:
        return resolve_name(path)
    except (ImportError, AttributeError):
        return None


def compiled_autograd_on() -> bool:
    """Whether backward passes are traced: hooks on them would become part of the graphs."""
    from torch._dynamo import compiled_autograd, config

    return bool(
        getattr(config, "compiled_autograd", False)
        or getattr(compiled_autograd, "compiled_autograd_enabled", False)
    )
